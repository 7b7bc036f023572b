#!/usr/bin/env bash
# Runs recorded as capsules and replayed; what others read of them; cut, damaged and unfinished ones.
set -eu
cd "$(dirname "$0")/../../.."
[[ -e build/models/lenet.onnx ]] || python3 tools/bench/models.py lenet >/dev/null
exec python3 tests/e2e/capsule/record_replay.py "$@"
