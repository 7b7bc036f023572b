#!/usr/bin/env bash
# Convolutions of the engine gpu and their gradients, on the simulated vendor.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/engines/gpu_convolutions.py "$@"
