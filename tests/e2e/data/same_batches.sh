#!/usr/bin/env bash
# One digest a pipe, on any threads, batches ahead, rows a run, and however it is written.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/same_batches.py
