#!/usr/bin/env bash
# What a device holds after 10,000 sessions, and the rest of tests/e2e/engines/device_memory.sh.
set -eu
cd "$(dirname "$0")/../../../.."
exec bash tests/e2e/engines/device_memory.sh "${1:-10000}"
