#!/usr/bin/env bash
# A cache of 20,000 learned prices is read by what a model needs, appended to, and sorted beside a run.
cd "$(dirname "$0")/../../.." && exec python3 tests/e2e/plans/price_file.py "$@"
