#!/usr/bin/env bash
# docs/plugin-guide.md word for word: its files and commands in an empty folder, against an installed
# SDK, with an empty environment and, where the system lets us, without a source tree.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/all/guide.py "$@"
