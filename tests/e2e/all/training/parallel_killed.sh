#!/usr/bin/env bash
# Runs on ranks of MPI killed at 50 moments, and 121 pairs of meshes: tests/e2e/training/parallel_checkpoints.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/training/parallel_checkpoints.py --kills 50 --all
