#!/usr/bin/env bash
# ge-adcheck at length: 10,000 random programs, and what each rule emits broken node by node.
# GE_BUILD is the build folder, GE_ADCHECK_PROGRAMS the programs (10000).
set -u
cd "$(dirname "$0")/../../.."
. tests/e2e/adcheck_step.bash

step --programs "${GE_ADCHECK_PROGRAMS:-10000}" --seed 1
step --mutate
echo "$passed passed, $failed failed, $skipped skipped"
