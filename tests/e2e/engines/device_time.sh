#!/usr/bin/env bash
# Devices that are slower than they say: later sessions leave them.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/engines/device_time.py "$@"
