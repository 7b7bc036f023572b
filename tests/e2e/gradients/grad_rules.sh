#!/usr/bin/env bash
# Gradient rules that no number tells right from wrong: conventions, operators of single precision,
# and refusals.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/gradients/grad_rules.py
