#!/usr/bin/env bash
# States that sessions share, from a C11 program: a step and an evaluation in models of their own,
# arguments, refusals, calls from within a run, cancels, eight threads, bytes. GE_BUILD is the build
# folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/states_client
op=$build/states_op.so
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/states_client.c -lpthread -ldl
client "$op" cc -std=c11 -Werror -shared -fPIC tests/e2e/clients/states_op.c
devsim=$PWD/$build/lib/samples/devsim.so
models=(tests/e2e/models/shared_step.gt tests/e2e/models/shared_look.gt)
while read -r engines; do
  for command in calls refused inside threads bytes; do
    text=$(timeout 300 "$out" "${models[@]}" "$engines" "$PWD/$op" "$command" 2>&1)
    ran "$command under $engines" $? "$text"
    echo "$text" | grep -v ' passed, '
  done
done < <(engine_lists; echo "ref,$devsim:take=60;price=1;link_latency_ns=0")
sum_up
