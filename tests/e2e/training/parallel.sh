#!/usr/bin/env bash
# ge train --mesh: two and three ranks of MPI learn what one process learns, and what is refused.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/parallel.py
