#!/usr/bin/env bash
# Collectives over the axes of meshes by Open MPI, against whole tensors that numpy cuts.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/engines/collectives.py
