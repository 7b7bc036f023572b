#!/usr/bin/env bash
# Groups of 8-bit codes (QDQ) give the codes that floats would give, and are taken as patterns.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/engines/code_groups.py
