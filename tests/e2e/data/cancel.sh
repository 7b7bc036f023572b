#!/usr/bin/env bash
# Cancels and time limits in loads, decodes and batches of data pipelines.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/cancel.py "$@"
