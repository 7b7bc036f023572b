#!/usr/bin/env bash
# All 40 steps of each limit.
set -u
cd "$(dirname "$0")/../../../.."
GE_EVERY=1 exec bash tests/e2e/hostile/limits.sh
