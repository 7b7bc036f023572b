#!/usr/bin/env bash
# README's section "Ascend" and docs/ascend/README.md as a new user types them, on a machine without the library.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/ascend/ascend_readme.py "$@"
