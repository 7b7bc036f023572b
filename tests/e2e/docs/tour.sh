#!/usr/bin/env bash
# docs/tour.md says what the commands print: runs each of its console blocks and compares.
set -eu
cd "$(dirname "$0")/../../.."
export GE_MAX_ISA=avx2
exec python3 tests/e2e/docs/tour.py "$@"
