#!/usr/bin/env bash
# Faults on purpose: for each, the tool that a step of ./test runs must fail, and must pass without it.
# Engines are built from tests/plugins/planted/engine.c; faults of a pass, of the decoder and of the prover
# are planted by the linker into copies of ge-test and of the prover's unit tests
# (tests/plugins/planted/planted.cc). GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# verdict NAME GOOD: counts; shows what was printed where it is not good.
verdict() {
  if [[ $2 == yes ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $1"
    tail -n 5 "$folder/log"
  fi
}
# clean NAME COMMAND...: without the fault it passes.
clean() {
  local name=$1 good=no
  shift
  if "$@" >"$folder/log" 2>&1; then good=yes; fi
  verdict "$name: fails without a fault" $good
}
# caught NAME COMMAND...: exits with 1 and counts a failure; no crash, no refused argument.
caught() {
  local name=$1 good=no code
  shift
  "$@" >"$folder/log" 2>&1
  code=$?
  if [[ $code == 1 ]] && grep -qE '^FAILED|\[  FAILED  \]' "$folder/log"; then good=yes; fi
  verdict "$name: not noticed (exit $code)" $good
}
# refused NAME COMMAND...: exits with 2.
refused() {
  local name=$1 good=no
  shift
  "$@" >"$folder/log" 2>&1
  [[ $? != 2 ]] || good=yes
  verdict "$name: not refused" $good
}

for fault in NONE DECLINES ZEROS LAST_ROW IGNORES; do
  read -r -a flags <<<"${CFLAGS:-}"
  cc -std=c11 -O1 -Wall -Wextra -Werror -Wno-missing-field-initializers -shared -fPIC "${flags[@]}" \
    -DFAULT=$fault -Isdk/include tests/plugins/planted/engine.c -o "$folder/$fault.so" || failed=$((failed + 1))
done
test=$build/bin/ge-test
nodes=(--onnx-node build/node-tests/node --op MatMul --policy priority --least-taken planted=1)
if [[ -d build/node-tests/node ]]; then
  clean "engine" "$test" "${nodes[@]}" --engines "$folder/NONE.so,ref"
  caught "an engine that declines all, node tests" "$test" "${nodes[@]}" --engines "$folder/DECLINES.so,ref"
fi
caught "an engine that declines all, large cases" "$test" --random 3 --large --engines "$folder/DECLINES.so"

# Without their engine models ran on ref alone, and passed.
mkdir "$folder/engines"
refused "models on an engine that is not there" \
  env GE_PLUGIN_PATH="$folder/engines" "$test" --random-models 1 --engines native,ref
cp "$build/lib/graphengine/ref.so" "$folder/engines"
clean "models, the other engines not built" \
  env GE_PLUGIN_PATH="$folder/engines" "$test" --random-models 1
printf 'no library' >"$folder/engines/native.so"
refused "models on all engines, one of which cannot be loaded" \
  env GE_PLUGIN_PATH="$folder/engines" "$test" --random-models 1

# As many cases as the step `random` has of an operator and engine.
clean "engine" "$test" --random 100 --op MatMul --engines "$folder/NONE.so"
caught "wrong in the last row of 5 and 7" "$test" --random 100 --op MatMul --engines "$folder/LAST_ROW.so"
# As the step `attributes` has it.
clean "attributes" "$test" --attributes 4 --op LeakyRelu
caught "an attribute that an engine ignores" "$test" --attributes 4 --op LeakyRelu --engines "$folder/IGNORES.so"
# One operator of each family: products, windows, attention, states, normalisations, curves, sums.
for op in MatMul Gemm Conv ConvTranspose AveragePool MaxPool Attention com.microsoft.MultiHeadAttention \
  LSTM GRU Softmax LayerNormalization BatchNormalization Gelu Exp Add ReduceSum CumSum Resize Gather; do
  caught "zeros in bfloat16: $op" "$test" --random 5 --op $op --engines "$folder/ZEROS.so"
done

planted=$build/bin/ge-planted units=$build/bin/ge-planted-unit
texts=(tests/text/graph tests/text/pass tests/text/stage)
clean "text cases" "$planted" "${texts[@]}"
caught "a pass that drops an effect" env GE_PLANTED=drop-effects "$planted" "${texts[@]}"
for field in effects after origin hints recursive trainable role; do
  caught "a decoder that ignores '$field'" env GE_PLANTED=forget-$field "$planted" tests/text/graph
done
clean "prover" "$units"
# ./test --all plants these: a line that has moved would be noticed hours later.
clean "the table of bugs" python3 tests/e2e/all/code/random_models_bugs.py --check
caught "a prover that accepts all" env GE_PLANTED=accept-all "$units"
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
