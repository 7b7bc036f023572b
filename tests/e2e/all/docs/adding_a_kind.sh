#!/usr/bin/env bash
# docs/adding-a-kind.md, word for word: its files are written into a copy of the tree, built and run as it
# says, and files and lines are counted.
set -u
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/docs/adding_a_kind.py "$@"
