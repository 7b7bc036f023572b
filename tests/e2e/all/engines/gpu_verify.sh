#!/usr/bin/env bash
# All parts of gpu_verify on the simulated vendor.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/engines/gpu_verify.py --whole "$@"
