#!/usr/bin/env bash
# Checkpoints of runs on ranks of MPI: every mesh goes on with every mesh's, damaged ones, kills.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/parallel_checkpoints.py
