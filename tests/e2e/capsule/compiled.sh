#!/usr/bin/env bash
# Compiled models: loaded without a price, a search or a fill; misfits named; hostile files.
set -eu
cd "$(dirname "$0")/../../.."
[[ -e build/models/lenet.onnx ]] || python3 tools/bench/models.py lenet >/dev/null
exec python3 tests/e2e/capsule/compiled.py "$@"
