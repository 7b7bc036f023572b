#!/usr/bin/env bash
# The first 500 allocations of load, compile and run fail in turn, and 1,000 of the later ones. All
# that is found is shown.
set -u
cd "$(dirname "$0")/../../../.."
GE_FIRST=500 GE_MORE=1000 GE_LINES=10000 exec bash tests/e2e/hostile/out_of_memory.sh
