#!/usr/bin/env bash
# The same up to 100,000 nodes, with the seconds of each stage.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/plans/scale.py --nodes 1000 5000 10000 20000 100000 --stages
