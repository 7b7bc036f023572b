#!/usr/bin/env bash
# The engine gpu: without a driver, with drivers of each fault, and on the simulated vendor.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/engines/gpu.py "$@"
