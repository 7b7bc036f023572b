#!/usr/bin/env bash
# ge train on photos and on tokens, each killed at 30 random moments: tests/e2e/training/train_pipe.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/training/train_pipe.py --kills 30
