#!/usr/bin/env bash
# Damaged model files, a sample; tests/e2e/all/hostile/bad_input.sh runs all of them.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/hostile/bad_input.py --count 100
