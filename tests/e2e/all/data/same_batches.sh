#!/usr/bin/env bash
# 200 batches of five pipes over the whole grid, 60 rewritten pipes, 2,000 sizes of photos:
# tests/e2e/data/same_batches.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/data/same_batches.py --all
