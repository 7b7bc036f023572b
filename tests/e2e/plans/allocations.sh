#!/usr/bin/env bash
# A run of a known shape: the host, ref and our shims allocate nothing; vendors' libraries are printed.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
out=$build/allocations
passed=0 failed=0
if ! cc -std=c11 -O1 -Wall -Wextra -Isdk/include tests/e2e/plans/allocations.c -o "$out" -L"$build/lib" \
  -lgraphengine -ldl -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
python3 tools/bench/models.py lenet minilm >/dev/null || exit 1
count() {  # what was printed, and its counts
  echo "$1" | sed '$d' | sed 's/^/  /'
  if [[ $1 =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
}
for engines in ref native,onednn,openblas,ref; do
  echo "a loop under $engines"
  count "$("$out" tests/e2e/models/loop.gt "$engines" 4 spin 1000)"
done
devsim="./$build/lib/samples/devsim.so:take=60;price=30;link_latency_ns=50;link_gbps=1000"
for engines in ref onednn,ref openblas,ref "ref,$devsim"; do
  for model in lenet:64x1x28x28 minilm:1x16; do
    echo "${model%%:*} under $engines"
    count "$("$out" "build/models/${model%%:*}.onnx" "$engines" "${model#*:}")"
  done
done
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
