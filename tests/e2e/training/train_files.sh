#!/usr/bin/env bash
# ge train: what it does to files: checkpoints of other runs, damaged ones, logs that go on, targets
# that cannot be written, FIFOs; and what a loss that is no number leaves behind.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/train_files.py
