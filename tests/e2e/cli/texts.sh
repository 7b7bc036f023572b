#!/usr/bin/env bash
# Texts in NumPy's files as inputs of `ge run` and `ge bench`.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/cli/texts.py "$@"
