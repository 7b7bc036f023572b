#!/usr/bin/env bash
# Large one-operator models for each instruction set that the host has, with one thread and with two:
# GE_LARGE_RANDOM (3000) of each against ref at f64, and a fifth as many against ONNX Runtime.
set -u
cd "$(dirname "$0")/../../../.." || exit 2
source tests/counted.sh
test=build/release/bin/ge-test
count=${GE_LARGE_RANDOM:-3000}
for isa in $(isa_sets); do
  for threads in 1 2; do
    counted "$isa, $threads threads" env GE_MAX_ISA="$isa" "$test" --random "$count" --large \
      --seed $((10 + threads)) --threads $threads
    counted "$isa, $threads threads, ONNX Runtime" python3 tests/e2e/all/engines/large_ops_ort.py \
      --isa "$isa" --threads $threads --count $((count / 5)) --seed $((20 + threads))
  done
done
# Every operator of which an engine takes small cases is drawn for large ones.
drawn() {
  local missing
  missing=$("$test" --random 2 --engines native,onednn,openblas -v |
    awk '$4 == "cases," && $2 != "operators," { print $2 }' | sort -u |
    while read -r op; do
      grep -q "(\"$op\"," tools/ge_test/random/large_ops.def || echo "FAILED  $op is not in large_ops.def"
    done)
  if [[ -n $missing ]]; then echo "$missing"; echo "0 passed, 1 failed, 0 skipped"; return 1; fi
  echo "1 passed, 0 failed, 0 skipped"
}
counted "operators" drawn
total
