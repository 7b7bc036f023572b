#!/usr/bin/env bash
# Damaged data files of every kind: a few of each. tests/e2e/all/data has the many.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/sources_mutated.py 30
