#!/usr/bin/env bash
# Each option of a training step on ranks of MPI beside one process.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/parallel_options.py
