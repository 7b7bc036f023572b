#!/usr/bin/env bash
# ascend_check on the simulated vendor: all pass, each rule that is switched off is found, reports, refusals.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/ascend/ascend_check.py "$@"
