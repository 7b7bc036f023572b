#!/usr/bin/env bash
# ge train: what it learns, the same bits from the same seed, killed and resumed, readers, refusals.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/train_tool.py
