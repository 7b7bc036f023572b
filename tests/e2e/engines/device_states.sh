#!/usr/bin/env bash
# What training and decoding copy on a device, and that states there have the bits of runs on the host.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/engines/device_states.py "$@"
