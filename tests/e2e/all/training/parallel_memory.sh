#!/usr/bin/env bash
# What states in shares save at once, by the medians of nine runs: tests/e2e/training/parallel_entries.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/training/parallel_entries.py --memory
