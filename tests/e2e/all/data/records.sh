#!/usr/bin/env bash
# 2,000 flipped bits of records and each bit of a small one, named by column and row:
# tests/e2e/data/records.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/data/records.py --flips 2000 --share 1
