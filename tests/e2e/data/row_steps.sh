#!/usr/bin/env bash
# Steps of data pipelines that look at all rows: where, standardise; select of several columns; classes
# of test data.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/row_steps.py
