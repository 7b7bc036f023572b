#!/usr/bin/env bash
# Time and memory of planning grow with the number of nodes, not with its square.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plans/scale.py
