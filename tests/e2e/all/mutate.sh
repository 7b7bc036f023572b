#!/usr/bin/env bash
# Changes each file of the product in three places, one place at a time: tests must notice 95 % of them.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/all/mutate.py --scripts "$@"
