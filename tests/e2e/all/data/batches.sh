#!/usr/bin/env bash
# Orders and draws: 1,000 of each, with rows up to 2^40 and any seed: tests/e2e/data/batches.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/data/batches.py --cases 1000
