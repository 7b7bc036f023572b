#!/usr/bin/env bash
# Every allocation of load, compile and run fails once.
set -u
cd "$(dirname "$0")/../../.."
GE_EVERY=1 GE_LAST=100000 exec bash tests/e2e/out_of_memory.sh
