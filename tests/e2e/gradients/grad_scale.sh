#!/usr/bin/env bash
# Deriving gradients grows with the graph, and equal layers are derived once. Needs valgrind.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/gradients/grad_scale.py
