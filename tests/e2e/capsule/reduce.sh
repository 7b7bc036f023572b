#!/usr/bin/env bash
# Ten faults in graphs of 500 nodes, each reduced to the few that fail; segments that replay by themselves.
set -eu
cd "$(dirname "$0")/../../.."
for model in lenet mlp tinychain; do
  [[ -e build/models/$model.onnx ]] || python3 tools/bench/models.py "$model" >/dev/null
done
exec python3 tests/e2e/capsule/reduce.py "$@"
