#!/usr/bin/env bash
# Counts the lines of each folder of the product that quick tests reach, in a build of its own.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/all/coverage.py "$@"
