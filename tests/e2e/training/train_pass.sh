#!/usr/bin/env bash
# The pass `train`: losses, optimizers and schedules against NumPy in float64, and its refusals.
set -eu
cd "$(dirname "$0")/../../.."
GE_CACHE_DIR=off GE_PROBE=fixed exec build/venv/bin/python tests/e2e/training/train_pass.py
