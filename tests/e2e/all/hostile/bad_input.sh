#!/usr/bin/env bash
# Damaged model files: 2,000 cuts and 2,000 flips of each format.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/hostile/bad_input.py --count 2000
