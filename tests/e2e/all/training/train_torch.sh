#!/usr/bin/env bash
# ge train beside PyTorch, which gets a Python environment of its own (gigabytes) at the first run.
set -eu
cd "$(dirname "$0")/../../../.."
if [[ ! -x build/venv-torch/bin/python ]]; then python3 -m venv build/venv-torch; fi
build/venv-torch/bin/python -c "import torch, onnx, onnxscript" 2>/dev/null ||
  build/venv-torch/bin/pip install -q torch numpy onnx onnxscript
source tests/counted.sh
for script in train_exported train_exporters train_torch; do
  counted "$script" build/venv-torch/bin/python "tests/e2e/all/training/$script.py"
done
total
