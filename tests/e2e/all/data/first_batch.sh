#!/usr/bin/env bash
# The first batch far into the data comes as soon as the first of all.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/all/data/first_batch.py
