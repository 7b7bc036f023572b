#!/usr/bin/env bash
# Every engine under each instruction set that the host has, with 1 and 2 threads: the node tests,
# random cases at the sizes at which kernels take other ways, and random models. A short form:
# tests/e2e/all/engines/large_random.sh is the long one.
set -u
cd "$(dirname "$0")/../../.." || exit 2
source tests/counted.sh
test=${GE_BUILD:-build/release}/bin/ge-test
engines=native,onednn,openblas,ref
for isa in $(isa_sets); do
  export GE_MAX_ISA=$isa
  for threads in 1 2; do
    at="$isa, $threads threads"
    counted "$at: node tests" "$test" --onnx-node build/node-tests/node --engines "$engines" \
      --threads $threads
    counted "$at: large cases" "$test" --random "${GE_LARGE_CASES:-200}" --large --seed "$threads" \
      --threads $threads
    counted "$at: text cases" "$test" tests/text --threads $threads
    counted "$at: random models" "$test" --random-models 12 --seed "$threads" --threads $threads
  done
done
total
