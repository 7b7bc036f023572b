#!/usr/bin/env bash
# The same as tests/e2e/engines/gpu_operators.sh with 40 random cases of each operator.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/engines/gpu_operators.py --cases 40 "$@"
