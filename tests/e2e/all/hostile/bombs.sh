#!/usr/bin/env bash
# Small models that ask for very much, all of them; tests/e2e/hostile/bombs.sh runs the quick ones.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/hostile/bombs.py "$@"
