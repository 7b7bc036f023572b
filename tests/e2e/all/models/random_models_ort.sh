#!/usr/bin/env bash
# Random models against ONNX Runtime, by way of our own export.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/models/random_models_ort.py "$@"
