#!/usr/bin/env bash
# ge-conform, every level: our engines and the simulated device show no FAIL, CRASH or HANG.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/plugins/conform.py --all
