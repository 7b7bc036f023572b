#!/usr/bin/env bash
# What the program says of small mistakes: of its command line, of plugins that are odd, of pins, of a
# machine without /proc and of folders that may not be read; and what it makes up where nothing is said.
set -eu
cd "$(dirname "$0")/../../.."
export GE_CACHE_DIR=off GE_PROBE=fixed
exec build/venv/bin/python tests/e2e/cli/words.py "$@"
