#!/usr/bin/env bash
# Beside torch: layers, optimizers, gradients of control flow; beside jax: derivatives of every kind. With
# the Pythons that GE_TORCH and GE_JAX name; skipped without them.
set -u
cd "$(dirname "$0")/../../../.." || exit 2
source tests/counted.sh
source tests/python_wheel.sh
export GE_CACHE_DIR=off GE_PROBE=fixed
wheel || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
counted "layers and gradients" "$python" tests/e2e/python/networks_peers.py
for part in optimizers control derivatives; do
  counted "$part" "$python" "tests/e2e/python/peers/${part}_peers.py"
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
