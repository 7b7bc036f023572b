#!/usr/bin/env bash
# Matrix products of the engine gpu by cuBLASLt, on the simulated vendor.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/engines/gpu_products.py "$@"
