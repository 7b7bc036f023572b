#!/usr/bin/env bash
# 20,000 large one-operator models for each instruction set that the host has, half with one thread
# and half with two, against ref at f64; and some thousand against ONNX Runtime.
set -u
cd "$(dirname "$0")/../../.." || exit 2
source tests/counted.sh
test=build/release/bin/ge-test
for isa in $(isa_sets); do
  for threads in 1 2; do
    counted "$isa, $threads threads" env GE_MAX_ISA="$isa" "$test" --random 10000 --large \
      --seed $((10 + threads)) --threads $threads
    counted "$isa, $threads threads, ONNX Runtime" python3 tests/e2e/all/large_ops_ort.py \
      --isa "$isa" --threads $threads --count 2000 --seed $((20 + threads))
  done
done
# Every operator of which an engine takes small cases is drawn for large ones.
drawn() {
  local missing
  missing=$("$test" --random 2 --engines native,onednn,openblas -v |
    awk '$4 == "cases," && $2 != "operators," { print $2 }' | sort -u |
    while read -r op; do
      grep -q "(\"$op\"," tools/ge_test/large_ops.def || echo "FAILED  $op is not in large_ops.def"
    done)
  if [[ -n $missing ]]; then echo "$missing"; echo "0 passed, 1 failed, 0 skipped"; return 1; fi
  echo "1 passed, 0 failed, 0 skipped"
}
counted "operators" drawn
total
