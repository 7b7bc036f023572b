#!/usr/bin/env bash
# What a session tells of engines, plans, names and failures, and what it is told of placement, from a
# C11 program. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/inspect_client
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/inspect_client.c
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$build/lib/samples/minimal.so" "$folder/logged.so"
devsim=$PWD/$build/lib/samples/devsim.so:price=1;link_latency_ns=0
for engines in $(engine_lists); do
  text=$(timeout 300 "$out" tests/e2e/models/inspect.gt "$engines" "$devsim" "$folder" 2>&1)
  ran "looking inside under $engines" $? "$text"
  echo "$text" | grep -v ' passed, '
done
sum_up
