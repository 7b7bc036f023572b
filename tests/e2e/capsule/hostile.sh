#!/usr/bin/env bash
# Capsules that are cut, flipped or lie: some of those of tests/e2e/all/hostile/capsules.sh.
set -eu
cd "$(dirname "$0")/../../.."
[[ -e build/models/lenet.onnx ]] || python3 tools/bench/models.py lenet >/dev/null
exec python3 -W ignore tests/e2e/all/hostile/capsules.py --count 300
