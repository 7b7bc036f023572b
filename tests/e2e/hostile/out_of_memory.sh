#!/usr/bin/env bash
# Load, compile and run of a CNN, a block of a transformer, an LSTM in a loop and strings behind a
# branch while allocations fail: of each call the first GE_FIRST, and GE_MORE drawn by GE_SEED. Of
# each model the first GE_LINES lines are shown.
set -u
cd "$(dirname "$0")/../../.."
source tests/client.sh
first=${GE_FIRST:-6} more=${GE_MORE:-6} seed=${GE_SEED:-20261123} lines=${GE_LINES:-40}
# Freed memory that a thread keeps for itself would look held.
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0
out=$build/out_of_memory
client "$out" c++ -std=c++20 tests/e2e/hostile/out_of_memory.cc -ldl
python3 tools/bench/models.py lenet >/dev/null || exit 1
for run in "build/models/lenet.onnx native,ref" "build/models/lenet.onnx ref" \
  "tests/e2e/models/attention.gt native,ref" "tests/e2e/models/attention.gt ref" \
  "tests/e2e/models/recurrent.gt native,ref" "tests/e2e/models/recurrent.gt ref" \
  "tests/e2e/models/strings.gt native,ref" "tests/e2e/models/strings.gt ref"; do
  read -r model engines entry <<<"$run"
  echo "$model under $engines"
  printed=$("$out" "$model" "$engines" "$first" "$more" "$seed" ${entry:+"$entry"} 2>&1)
  ran "$model under $engines" $? "$printed"
  echo "$printed" | sed '$d' | head -n "$lines"
done
sum_up
