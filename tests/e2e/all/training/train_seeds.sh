#!/usr/bin/env bash
# LeNet on Fashion-MNIST: five seeds beside PyTorch, and a run that is killed twenty times.
set -eu
cd "$(dirname "$0")/../../../.."
if [[ ! -x build/venv-torch/bin/python ]]; then python3 -m venv build/venv-torch; fi
build/venv-torch/bin/python -c "import torch, onnx" 2>/dev/null ||
  build/venv-torch/bin/pip install -q torch numpy onnx
exec build/venv-torch/bin/python tests/e2e/all/training/train_seeds.py "$@"
