#!/usr/bin/env bash
# Load, compile and run of a CNN, a block of a transformer, an LSTM in a loop and strings behind a
# branch while allocations fail: of each call the first GE_FIRST, and GE_MORE drawn by GE_SEED.
set -u
cd "$(dirname "$0")/../.."
build=${GE_BUILD:-build/release}
first=${GE_FIRST:-6} more=${GE_MORE:-6} seed=${GE_SEED:-20261123}
# Freed memory that a thread keeps for itself would look held.
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0
out=$build/out_of_memory
passed=0 failed=0
if ! c++ -std=c++20 -O1 -Wall -Wextra -Isdk/include tests/e2e/out_of_memory.cc -o "$out" -L"$build/lib" \
  -lgraphengine -ldl -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
python3 tools/bench/models.py lenet >/dev/null || exit 1
for run in "build/models/lenet.onnx native,ref" "build/models/lenet.onnx ref" \
  "tests/e2e/attention.gt native,ref" "tests/e2e/attention.gt ref" \
  "tests/e2e/recurrent.gt native,ref" "tests/e2e/recurrent.gt ref" \
  "tests/e2e/strings.gt native,ref" "tests/e2e/strings.gt ref"; do
  read -r model engines entry <<<"$run"
  echo "$model under $engines"
  printed=$("$out" "$model" "$engines" "$first" "$more" "$seed" ${entry:+"$entry"} 2>&1)
  echo "$printed" | sed '$d' | head -n 40
  if [[ $printed =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
