#!/usr/bin/env bash
# ge train on pipes of pictures, tables and texts: what docs/training.md says, killed and resumed, refusals.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/train_pipe.py "$@"
