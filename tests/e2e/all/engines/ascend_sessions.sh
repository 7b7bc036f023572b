#!/usr/bin/env bash
# 1,000 sessions at the caps of a simulated Ascend device, and the rest of tests/e2e/ascend/ascend_threads.sh.
set -eu
cd "$(dirname "$0")/../../../.."
exec bash tests/e2e/ascend/ascend_threads.sh "${1:-1000}"
