#!/usr/bin/env bash
# Whole plans on the simulated vendor, at full length: 1e5 orders of 100 graphs, each wait dropped.
cd "$(dirname "$0")/../../../.." || exit 1
export GE_TEST_FULL=1 GE_CACHE_DIR=off GE_PROBE=fixed
exec build/release/bin/ge-unit --gtest_filter='Schedules.*'
