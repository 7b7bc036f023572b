#!/usr/bin/env bash
# Random models of nnsmith against ONNX Runtime. It has a Python environment of its own (its PyTorch is
# some gigabytes), made at the first run, or alone: nnsmith_models.sh --setup.
set -eu
cd "$(dirname "$0")/../../../.."
if [[ ! -x build/venv-nnsmith/bin/python ]]; then python3 -m venv build/venv-nnsmith; fi
build/venv-nnsmith/bin/python -c "import nnsmith, torch, onnx" 2>/dev/null ||
  build/venv-nnsmith/bin/pip install -q nnsmith==0.1.0 torch==2.15.0 onnx==1.22.0
[[ ${1:-} != --setup ]] || exit 0
exec python3 tests/e2e/all/models/nnsmith_models.py "$@"
