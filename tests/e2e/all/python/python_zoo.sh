#!/usr/bin/env bash
# Ten networks by the Python package: numpy and DLPack in and out, equal to `ge run` to the bit, with
# no array copied.
set -u
cd "$(dirname "$0")/../../../.." || exit 2
source tests/counted.sh
source tests/python_wheel.sh
export GE_CACHE_DIR=off GE_PROBE=fixed
models=(resnet50 mobilenetv2 squeezenet bert_base minilm gpt2_small lstm lenet mlp tinychain)
wheel || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
watched=$PWD/$wheels/addresses.so
cc -shared -fPIC -O1 -Wall -Wextra -Isdk/include tests/e2e/python/python_addresses.c -o "$watched" -ldl ||
  { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
for model in "${models[@]}"; do
  if ! build/venv/bin/python tools/bench/models.py "$model" >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    failed=$((failed + 1))
    continue
  fi
  counted "$model" env "LD_PRELOAD=$watched" "ADDRESSES=$watched" \
    "PYTHONPATH=tests/e2e/python:tools/bench" "$python" tests/e2e/all/python/python_zoo.py "$model" \
    --build "$build" --scratch "$scratch"
done
total
