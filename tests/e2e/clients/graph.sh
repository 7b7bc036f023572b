#!/usr/bin/env bash
# Graphs made by calls, from a C11 program: run, and compared with the same graphs from files; and
# calls whose allocations fail one after the other. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/graph_client
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/graph_client.c -lm
for engines in $(engine_lists); do
  text=$(timeout 300 "$out" "$engines" "$folder" "./$build/lib/samples/op.so" 2>&1)
  ran "graphs under $engines" $? "$text"
  echo "$text" | grep -v ' passed, '
done
client "$build/graph_refusals_client" cc -std=c11 -Werror -pedantic \
  tests/e2e/clients/graph_refusals_client.c
text=$(timeout 300 "$build/graph_refusals_client" ref "$folder" 2>&1)
ran "what graphs refuse" $? "$text"
echo "$text" | grep -v ' passed, '
client "$build/graph_memory" c++ -std=c++20 tests/e2e/clients/graph_memory.cc
text=$(timeout 300 "$build/graph_memory" "$folder" 2>&1)
ran "graphs without memory" $? "$text"
echo "$text" | grep -v ' passed, '
client "$build/graph_sugar" c++ -std=c++17 tests/e2e/clients/graph_sugar.cc
text=$("$build/graph_sugar" "$folder" 2>&1)
ran "graphs in C++" $? "$text"
echo "$text" | grep -v ' passed, '
sum_up
