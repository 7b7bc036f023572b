#!/usr/bin/env bash
# `ge run --mesh` under mpirun: tests/e2e/training/ranks_run.py.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/ranks_run.py
