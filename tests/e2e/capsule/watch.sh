#!/usr/bin/env bash
# Runs that a NaN, an infinity or a large value stops, with the name of its node.
set -eu
cd "$(dirname "$0")/../../.."
for model in lenet mlp squeezenet; do
  [[ -e build/models/$model.onnx ]] || python3 tools/bench/models.py $model >/dev/null
done
exec python3 tests/e2e/capsule/watch.py "$@"
