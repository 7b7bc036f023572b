#!/usr/bin/env bash
# Calls of a session that fail, on the simulated vendor of the engine ascend: a few of six graphs. The whole
# is tests/e2e/all/engines/ascend_failing.sh.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/ascend/ascend_failing.py --models 2 --step 37 "$@"
