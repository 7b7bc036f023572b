#!/usr/bin/env bash
# Every sample and scaffold is one export that needs libc and libm alone.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/plugins/samples.py "$@"
