#!/usr/bin/env bash
# The table of ge explain: names as long as converters write them, names of other alphabets, patterns.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/cli/explain.py "$@"
