#!/usr/bin/env bash
# Random models on the simulated vendor of the engine ascend: 1e4 orders of the device's work, every driver
# call and piece of work of twenty failing.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/engines/vendor_schedules.py --engine ascend --seeds 102 --faulty 24 --late "$@"
