#!/usr/bin/env bash
# examples/train, as its README says: LeNet learns Fashion-MNIST by ge.h.
set -eu
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
[ "$(wc -l < examples/train/main.cc)" -lt 60 ]
trap 'rm -rf "$folder"' EXIT
build/venv/bin/python tools/bench/training/train_nets.py lenet "$folder/lenet.onnx"
GE_CACHE_DIR=off GE_PROBE=fixed build/release/bin/train "$folder/lenet.onnx" 150 | tee "$folder/out"
# Guessing gets 0.1.
awk '/^test accuracy/ { found = 1; good = $3 > 0.6 } END { exit !(found && good) }' "$folder/out"
if build/release/bin/train "$folder/none.onnx" 1 2> "$folder/err"; then exit 1; fi
grep -q none.onnx "$folder/err"
echo "3 passed, 0 failed, 0 skipped"
