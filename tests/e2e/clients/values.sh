#!/usr/bin/env bash
# Texts, sequences, maps and optionals in and out, and tensors by DLPack, from a C11 program. GE_BUILD
# is the build folder.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
out=$build/values_client
client "$out" cc -std=c11 -Werror -pedantic tests/e2e/clients/values_client.c
for engines in $(engine_lists); do
  text=$(timeout 300 "$out" tests/e2e/models/values.gt "$engines" 2>&1)
  ran "values under $engines" $? "$text"
  echo "$text" | grep -v ' passed, '
done
sum_up
