#!/usr/bin/env bash
# 2,000 flipped bits of records, each named by column and row: tests/e2e/data/records.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/data/records.py --flips 2000
