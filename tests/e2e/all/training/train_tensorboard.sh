#!/usr/bin/env bash
# tests/e2e/training/train_tool.sh, and what TensorBoard itself reads of a log of ge train.
set -eu
cd "$(dirname "$0")/../../../.."
if [[ ! -x build/venv-tb/bin/python ]]; then python3 -m venv build/venv-tb; fi
build/venv-tb/bin/python -c "import tensorboard" 2>/dev/null ||
  build/venv-tb/bin/pip install -q tensorboard
exec build/venv/bin/python tests/e2e/training/train_tool.py --tensorboard build/venv-tb/bin/python
