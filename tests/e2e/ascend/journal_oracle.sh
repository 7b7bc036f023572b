#!/usr/bin/env bash
# The oracle of journals, the simulator of devices and the truth of its own tests agree about random programs.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/ascend/journal_oracle.py "$@"
