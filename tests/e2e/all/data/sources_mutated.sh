#!/usr/bin/env bash
# Damaged data files of every kind, 2,000 of each.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/data/sources_mutated.py 2000
