#!/usr/bin/env bash
# Capsules that the first release with them wrote: this one reads them.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/capsule/frozen.py "$@"
