#!/usr/bin/env bash
# ONNX -> ours -> ONNX of the node tests and the real models.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/models/round_trip.py "$@"
