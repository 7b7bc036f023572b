#!/usr/bin/env bash
# ge-conform of the engine ascend, every level: each chip and format of the simulated vendor, each schedule.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/ascend/ascend_conform.py --all
