#!/usr/bin/env bash
# The rules of the simulated vendor of the engine ascend: kept, broken on purpose, switched off.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/ascend/ascend_rules.py "$@"
