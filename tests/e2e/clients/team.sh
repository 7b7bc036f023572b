#!/usr/bin/env bash
# Runs in flight of kernels whose threads wait for each other. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/team_client
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/team_client.c -lpthread -lm
lists=$(engine_lists)
if [[ -e $build/lib/graphengine/onednn.so ]]; then lists+=$'\nonednn'; fi
for engines in $lists; do
  text=$(timeout 120 "$out" tests/e2e/models/conv_grad_weight.gt "$engines" 2>&1)
  ran "runs in flight under $engines" $? "$text"
  echo "$text" | grep -v ' passed, '
done
sum_up
