#!/usr/bin/env bash
# Twenty-four real models at several sizes against ONNX Runtime.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/models/sizes.py "$@"
