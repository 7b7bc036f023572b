#!/usr/bin/env bash
# docs/adding-an-op.md, word for word: its three files are written into a copy of the tree, built and
# run as it says, and their lines are counted.
set -u
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/docs/adding_an_op.py "$@"
