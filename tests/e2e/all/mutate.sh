#!/usr/bin/env bash
# Changes each kernel of the reference engine and each infer rule in one place: some test must notice.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/all/mutate.py "$@"
