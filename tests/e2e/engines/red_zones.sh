#!/usr/bin/env bash
# Runs whose values stand apart with red zones between them (GE_RED_ZONES=1): no engine writes
# outside its own bytes, and nothing reads what nobody wrote. Under AddressSanitizer (GE_BUILD) no
# engine reads there either.
set -u
cd "$(dirname "$0")/../../.." || exit 2
source tests/counted.sh
build=${GE_BUILD:-build/release}
test=$build/bin/ge-test
export GE_RED_ZONES=1
engines=native,onednn,openblas,ref
counted "node tests" "$test" --onnx-node build/node-tests/node --engines "$engines"
for engine in native onednn openblas; do
  counted "node tests, $engine first" "$test" --onnx-node build/node-tests/node \
    --engines "$engine,ref" --policy priority
done
counted "text cases" "$test" tests/text
counted "large cases" "$test" --random "${GE_LARGE_CASES:-150}" --large --seed 3
# A network gives the same bytes as without; those that are not here (tools/bench/models.py) are
# left out.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
network() {
  local zones file=build/models/$1.onnx
  if [[ ! -f $file ]]; then echo "0 passed, 0 failed, 1 skipped"; return; fi
  for zones in 0 1; do
    GE_RED_ZONES=$zones "$build/bin/ge" run "$file" --input "$2" --engines "$engines" \
      --prices analytic --repeat 2 --output "$folder/$1.$zones" || return 1
  done
  diff -r "$folder/$1.0" "$folder/$1.1" && echo "1 passed, 0 failed, 0 skipped"
}
counted "lenet" network lenet x=3x1x28x28:rand
counted "squeezenet" network squeezenet x=1x3x224x224:rand
counted "minilm" network minilm ids=1x13:rand
counted "lstm" network lstm x=9x2x128:rand
counted "random models" "$test" --random-models 12 --seed 3
total
