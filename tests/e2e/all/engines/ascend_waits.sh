#!/usr/bin/env bash
# 100 random models on the simulated vendor of the engine ascend: each wait dropped in turn in five orders of
# the device's work, and of twenty each question and wait of the host, judged by an oracle.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/ascend/vendor_waits.py "$@"
