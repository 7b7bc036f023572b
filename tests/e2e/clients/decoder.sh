#!/usr/bin/env bash
# A decoder token by token: its past fed back as an input without a copy, and kept in caches by the
# session; both give the same. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/decoder_client
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/decoder_client.c -lm
for engines in $(engine_lists); do
  text=$(timeout 300 "$out" tests/e2e/models/decoder.gt "$engines" "$build" 2>&1)
  ran "$engines" $? "$text"
  echo "$text" | grep -v ' passed, '
done
sum_up
