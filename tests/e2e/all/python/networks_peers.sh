#!/usr/bin/env bash
# Layers beside torch and gradients beside jax, with the Pythons that GE_TORCH and GE_JAX name; skipped
# without them.
set -u
cd "$(dirname "$0")/../../../.." || exit 2
source tests/counted.sh
source tests/python_wheel.sh
export GE_CACHE_DIR=off GE_PROBE=fixed
wheel || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
"$python" tests/e2e/python/networks_peers.py
