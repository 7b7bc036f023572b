#!/usr/bin/env bash
# README's section "GPU", gpu_verify on the simulator, and the pages' words about devices.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/engines/gpu_verify.py "$@"
