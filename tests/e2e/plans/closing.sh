#!/usr/bin/env bash
# What a session takes when it ends, where it times what its plan holds.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plans/closing.py "$@"
