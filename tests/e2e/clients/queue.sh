#!/usr/bin/env bash
# A thousand asynchronous runs on a few threads, from a C11 program. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/queue_client
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/queue_client.c -lpthread
slow="ref,$PWD/$build/lib/samples/devsim.so:take=60;price=1;link_latency_ns=0;delay=2;delay_us=60000"
for engines in $(engine_lists); do
  text=$(timeout 300 "$out" tests/e2e/models/prepared.gt "$engines" "$slow" 2>&1)
  ran "asynchronous runs under $engines" $? "$text"
  echo "$text" | grep -v ' passed, '
done
sum_up
