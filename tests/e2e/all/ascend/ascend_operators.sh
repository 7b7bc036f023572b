#!/usr/bin/env bash
# The same as tests/e2e/ascend/ascend_operators.sh with 13 random cases of each operator: over 2,000.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/ascend/ascend_operators.py --cases 13 "$@"
