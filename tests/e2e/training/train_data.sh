#!/usr/bin/env bash
# ge train: data of every dtype and layout, and of nets of several inputs.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/train_data.py
