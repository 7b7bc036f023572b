#!/usr/bin/env bash
# ge.Gradient, which the pass `expand-gradients` of the plugin `grad` puts ordinary nodes in place of.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/gradients/asked.py
