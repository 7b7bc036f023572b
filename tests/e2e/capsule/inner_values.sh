#!/usr/bin/env bash
# Recorded values, inside of segments too, against ONNX Runtime of the same names.
set -eu
cd "$(dirname "$0")/../../.."
for model in lenet mlp squeezenet; do
  [[ -e build/models/$model.onnx ]] || python3 tools/bench/models.py $model >/dev/null
done
exec python3 tests/e2e/capsule/inner_values.py "$@"
