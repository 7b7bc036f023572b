#!/usr/bin/env bash
# A GPT and an LSTM over characters beside PyTorch, which has a Python environment of its own
# (gigabytes), made at the first run.
set -eu
cd "$(dirname "$0")/../../../.."
build/venv-torch/bin/python -c "import torch, onnx" 2>/dev/null ||
  python3 tools/bench/training/grad_nets.py --setup
exec build/venv-torch/bin/python tests/e2e/all/training/train_sequences.py "$@"
