#!/usr/bin/env bash
# Prepared runs and the limits of single calls, from a C11 and a C++17 program. GE_BUILD is the build
# folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/prepared_client
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/prepared_client.c -lpthread
client "$out.sugar" c++ -std=c++17 -Werror -pedantic tests/e2e/clients/prepared_sugar.cc
slow="ref,$PWD/$build/lib/samples/devsim.so:take=60;price=1;link_latency_ns=0;delay=2;delay_us=60000"
for engines in $(engine_lists); do
  text=$(timeout 300 "$out" tests/e2e/models/prepared.gt "$engines" "$slow" 2>&1)
  ran "prepared runs under $engines" $? "$text"
  echo "$text" | grep -v ' passed, '
  text=$("$out.sugar" "$engines" 2>&1)
  ran "ge.hpp under $engines" $? "$text"
  echo "$text" | grep -v ' passed, '
done
sum_up
