#!/usr/bin/env bash
# Whole models of the engine ascend on the simulated vendor, in float32 and float16, in both formats.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/ascend/ascend_models.py "$@"
