#!/usr/bin/env bash
# One in a hundred photos is damaged: named by file and row, or replaced by the next good row.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/damaged_photos.py "$@"
