#!/usr/bin/env bash
# Orders, draws and batches of data pipelines, against the Python of docs/data.md.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/batches.py "$@"
