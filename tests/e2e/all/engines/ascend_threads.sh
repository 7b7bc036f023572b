#!/usr/bin/env bash
# A thousand sessions at the caps of a simulated device, and the rest of
# tests/e2e/ascend/ascend_threads.sh.
set -eu
cd "$(dirname "$0")/../../../.."
exec bash tests/e2e/ascend/ascend_threads.sh "${1:-1000}"
