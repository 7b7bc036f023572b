#!/usr/bin/env bash
# A few random models on the simulated vendor of the engine ascend: orders of the device's work, calls and
# work that fail. The whole is tests/e2e/all/engines/ascend_schedules.sh.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/engines/vendor_schedules.py --engine ascend --models 8 --seeds 5 \
  --faulty 2 --late "$@"
