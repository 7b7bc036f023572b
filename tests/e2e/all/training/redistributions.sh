#!/usr/bin/env bash
# Redistributions of passes/parallel beside PyTorch's DTensor: right, and no more bytes.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/all/training/redistributions.py "$@"
