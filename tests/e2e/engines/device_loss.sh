#!/usr/bin/env bash
# Devices that are lost, fail late or never answer, and engines whose device is not here.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/engines/device_loss.py "$@"
