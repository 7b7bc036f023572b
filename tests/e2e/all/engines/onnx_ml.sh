#!/usr/bin/env bash
# The operators of ai.onnx.ml against ONNX Runtime: random parameters, and trained models where
# scikit-learn is installed.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/all/engines/onnx_ml.py "$@"
