#!/usr/bin/env bash
# Random models of nnsmith against ONNX Runtime. Its PyTorch is some gigabytes, so that it is
# installed on request alone: nnsmith_models.sh --setup.
set -eu
cd "$(dirname "$0")/../../.."
if [[ ${1:-} == --setup ]]; then
  python3 -m venv build/venv-nnsmith
  exec build/venv-nnsmith/bin/pip install -q nnsmith==0.1.0 torch==2.15.0 onnx==1.22.0
fi
if [[ ! -x build/venv-nnsmith/bin/python ]]; then
  echo "nnsmith is not installed; run: tests/e2e/all/nnsmith_models.sh --setup"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
exec python3 tests/e2e/all/nnsmith_models.py "$@"
