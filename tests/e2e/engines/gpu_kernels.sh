#!/usr/bin/env bash
# The device code of the engine gpu: all kernels, none with local memory.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/engines/gpu_kernels.py "$@"
