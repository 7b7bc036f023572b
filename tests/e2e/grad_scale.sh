#!/usr/bin/env bash
# Deriving gradients grows with the graph, and equal layers are derived once. Needs valgrind.
set -eu
cd "$(dirname "$0")/../.."
exec python3 tests/e2e/grad_scale.py
