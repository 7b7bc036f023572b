#!/usr/bin/env bash
# Load, compile and run while allocations fail; GE_EVERY=1 GE_LAST=100000 tries every one of them.
set -u
cd "$(dirname "$0")/../.."
build=${GE_BUILD:-build/release}
every=${GE_EVERY:-7} last=${GE_LAST:-400}
out=$build/out_of_memory
passed=0 failed=0
if ! c++ -std=c++20 -O1 -Wall -Wextra -Isdk/include tests/e2e/out_of_memory.cc -o "$out" -L"$build/lib" \
  -lgraphengine -ldl -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
python3 tools/bench/models.py lenet >/dev/null || exit 1
for run in "build/models/lenet.onnx native,ref" "tests/e2e/three_nodes.gt ref" "tests/e2e/loop.gt native,ref spin"; do
  read -r model engines entry <<<"$run"
  echo "$model under $engines"
  printed=$("$out" "$model" "$engines" 1 "$last" "$every" ${entry:+"$entry"} 2>&1)
  echo "$printed" | sed '$d' | head -n 40
  if [[ $printed =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
