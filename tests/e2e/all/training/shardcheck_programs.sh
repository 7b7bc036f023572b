#!/usr/bin/env bash
# ge-shardcheck: 2,000 random nets, steps and pins on ranks against one process; a minute or two on an idle
# machine. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../../.."
build=${GE_BUILD:-build/release}
. tests/e2e/counted_step.bash

counted ge-shardcheck --programs 2000 --seed 7
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
