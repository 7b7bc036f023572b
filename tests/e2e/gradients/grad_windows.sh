#!/usr/bin/env bash
# Loops in windows (`loop-checkpoint` of the passes `grad` and `train`): the same bits in less memory.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/gradients/grad_windows.py
