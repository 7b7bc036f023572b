#!/usr/bin/env bash
# Gradients of programs with control flow, and what the pass `grad` refuses.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/gradients/grad.py
