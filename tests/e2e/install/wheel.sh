#!/usr/bin/env bash
# The wheels of tools/wheel: their tag, size and contents; the first section of sdk/python/README.md,
# typed in an empty environment where Debian's libraries are hidden; who bids there, on which threads.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/install/repaired_wheel.py "$@"
