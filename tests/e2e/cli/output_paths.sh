#!/usr/bin/env bash
# Commands that write, with thirty kinds of path: nothing but regular files is replaced. GE_BUILD is
# the build folder.
set -eu
cd "$(dirname "$0")/../../.."
export GE_CACHE_DIR=off GE_PROBE=fixed
exec python3 tests/e2e/cli/output_paths.py --build "$PWD/${GE_BUILD:-build/release}"
