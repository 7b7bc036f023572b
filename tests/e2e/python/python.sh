#!/usr/bin/env bash
# The Python package: its wheel is built from the built engine and installed into a clean virtual
# environment. Results equal those of `ge run`, arrays are not copied (addresses, seen from under the
# library), errors have names, runs go on by themselves, states are kept, plugins are used and nets
# trained, calls of onnxruntime do as there, Ctrl-C ends what goes on, control flow is found in the
# source of functions, functions over Tensors answer what the array API standard says, operators may be
# functions of numpy, and README's lines run.
set -u
cd "$(dirname "$0")/../../.." || exit 2
source tests/counted.sh
source tests/python_wheel.sh
export GE_CACHE_DIR=off GE_PROBE=fixed
[[ -e build/models/lenet.onnx ]] || python3 tools/bench/models.py lenet >/dev/null
wheel || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

watched=$PWD/$wheels/addresses.so
cc -shared -fPIC -O1 -Wall -Wextra -Isdk/include tests/e2e/python/python_addresses.c -o "$watched" -ldl ||
  { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
for part in arrays dlpack values calls plugins data onnxruntime signals source tensor eager door arithmetic jit recursion gradients package; do
  counted "$part" env "LD_PRELOAD=$watched" "ADDRESSES=$watched" "$python" \
    "tests/e2e/python/python_$part.py" --build "$build" --scratch "$scratch"
done
# Functions over Tensors on ref, whose zeros have signs, against numpy, array_api_strict and ONNX's node
# tests. The sweep of more examples is tests/e2e/all/python/python_functions.sh.
theirs=$(build/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
for part in functions indexing function_rules operators; do
  counted "$part" env "PYTHONPATH=$theirs" "$python" "tests/e2e/python/python_$part.py" --build "$build" \
    --examples 8
done
counted wrong env "PYTHONPATH=$theirs" "$python" tests/e2e/python/wrong/python_wrong.py --build "$build" \
  --scratch "$scratch"
for part in networks exports; do
  counted "$part" env "PYTHONPATH=$theirs" "$python" "tests/e2e/python/python_$part.py" --build "$build" \
    --scratch "$scratch"
done
for part in values refused threads; do
  counted "custom_op $part" "$python" "tests/e2e/python/custom_op/custom_op_$part.py" --build "$build" \
    --scratch "$scratch"
done
counted exported env "PYTHONPATH=$theirs" "$python" tests/e2e/python/exported/python_exported.py --build "$build" \
  --scratch "$scratch"
# The same calls by onnxruntime and by us.
drop_in() {
  build/venv/bin/python tests/e2e/python/python_drop_in.py onnxruntime "$scratch/theirs.npz" ||
    { echo "onnxruntime's process ended with $?"; return 1; }
  "$python" tests/e2e/python/python_drop_in.py graphengine "$scratch/ours.npz" ||
    { echo "our process ended with $?"; return 1; }
  "$python" tests/e2e/python/python_drop_in.py --compare "$scratch/theirs.npz" "$scratch/ours.npz"
}
counted "onnxruntime's calls" drop_in
total
