#!/usr/bin/env bash
# Small models that ask for very much, the quick ones; tests/e2e/all/hostile/bombs.sh runs all of them.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/all/hostile/bombs.py --short
