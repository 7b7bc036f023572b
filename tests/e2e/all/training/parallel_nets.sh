#!/usr/bin/env bash
# 200 steps of three nets on two ranks of MPI beside one process and PyTorch's DDP.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/all/training/parallel_nets.py "$@"
