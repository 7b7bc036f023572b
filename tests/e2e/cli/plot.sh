#!/usr/bin/env bash
# The picture of ge explain --plot: well-formed, complete, its prices add up, nothing overlaps.
set -eu
cd "$(dirname "$0")/../../.."
python3 tools/bench/models.py lenet minilm >/dev/null
exec python3 tests/e2e/cli/plot.py "$@"
