#!/usr/bin/env bash
# Wrong use of the simulated cuDNN, and of the real one where it is installed.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/engines/gpu_cudnn_use.py "$@"
