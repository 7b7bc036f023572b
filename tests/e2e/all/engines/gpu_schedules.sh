#!/usr/bin/env bash
# Random models on the simulated vendor: 1e4 orders of the device's work, every driver call failing.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/engines/vendor_schedules.py "$@"
