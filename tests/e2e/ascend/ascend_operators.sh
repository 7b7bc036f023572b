#!/usr/bin/env bash
# What the engine ascend computes on the simulated vendor, beside ref.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/ascend/ascend_operators.py "$@"
