#!/usr/bin/env bash
# Operators' records against the schemas of the onnx package.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plugins/schemas.py "$@"
