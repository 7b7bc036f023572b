#!/usr/bin/env bash
# What `ge run` shows beside its results: traces.
set -eu
cd "$(dirname "$0")/../../.."
for model in lenet tinychain; do
  [[ -e build/models/$model.onnx ]] || python3 tools/bench/models.py $model >/dev/null
done
exec python3 tests/e2e/capsule/looking.py "$@"
