#!/usr/bin/env bash
# ge-conform, every level, of the engine ascend on the simulated vendor.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/ascend/ascend_conform.py "$@"
