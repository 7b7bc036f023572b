#!/usr/bin/env bash
# The pass `train` and `ge train` on nets in the forms in which PyTorch's exporters write them.
set -eu
cd "$(dirname "$0")/../../.."
GE_CACHE_DIR=off GE_PROBE=fixed exec build/venv/bin/python tests/e2e/training/train_forms.py
