#!/usr/bin/env bash
# Who owns what at the C border, and for how long: output tensors used again, what `done` may do,
# plans evicted while they are used, arrays that cannot be walked. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/lifetimes_client
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/lifetimes_client.c -lpthread
for engines in $(engine_lists); do
  for command in reuse done arrays "evict 1 300" "evict 4 300"; do
    # shellcheck disable=SC2086  # a command with its arguments
    text=$(timeout 300 "$out" tests/e2e/models/lifetimes.gt "$engines" $command 2>&1)
    ran "$command under $engines" $? "$text"
    echo "$text" | grep -v ' passed, '
  done
done
sum_up
