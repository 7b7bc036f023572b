#!/usr/bin/env bash
# Models of tokens: pieces against a search of the test's own, windows, changed and damaged models.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/tokens.py
