#!/usr/bin/env bash
# ge-adcheck at length: 10,000 random programs, a tenth as many that call themselves and functions as
# values, to second order, and what each rule emits broken node by node.
# GE_BUILD is the build folder, GE_ADCHECK_PROGRAMS the programs (10000).
set -u
cd "$(dirname "$0")/../../../.."
. tests/e2e/gradients/adcheck_step.bash

programs=${GE_ADCHECK_PROGRAMS:-10000}
step --programs "$programs" --seed 1
step --programs $(((programs + 9) / 10)) --recursion --closures --order 2 --seed 2
step --mutate
echo "$passed passed, $failed failed, $skipped skipped"
