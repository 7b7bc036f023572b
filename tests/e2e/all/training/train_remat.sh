#!/usr/bin/env bash
# ResNet-50 trained in less memory beside itself. PyTorch, which exports it, has a Python environment
# of its own (gigabytes), made at the first run.
set -eu
cd "$(dirname "$0")/../../../.."
build/venv-torch/bin/python -c "import torch, onnx" 2>/dev/null ||
  python3 tools/bench/training/grad_nets.py --setup
exec build/venv-torch/bin/python tests/e2e/all/training/train_remat.py "$@"
