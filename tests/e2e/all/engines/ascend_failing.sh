#!/usr/bin/env bash
# Every call of twenty graphs failing, at once or when its work runs, on the simulated vendor of the engine
# ascend.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/ascend/ascend_failing.py "$@"
