#!/usr/bin/env bash
# The pages of tests/e2e/docs/pages.sh, beside what `cmake --install` writes into a folder of its own.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/docs/pages.py --as tree "$@"
