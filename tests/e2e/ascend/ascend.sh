#!/usr/bin/env bash
# The engine ascend: without a library, with libraries of each fault, and on the simulated vendor.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/ascend/ascend.py "$@"
