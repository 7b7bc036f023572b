#!/usr/bin/env bash
# ge-adcheck: every gradient rule against dual numbers, and 200 random programs with control flow.
# GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
. tests/e2e/gradients/adcheck_step.bash
. tests/e2e/check_exit.bash

step --ops all --order 2
step --programs 200
step --programs 60 --recursion --closures --order 2 --seed 3
# Rows of a loop in a loop in a Scan; a gradient that cancels to nothing.
step --program 1000006308
step --program 1000001375
check "something is said of every operator" 0 "$build/bin/ge-adcheck" --list
# What it refuses.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
check "a folder without cases" 2 "$build/bin/ge-adcheck" --ops all --cases "$folder"
check "a name that nothing has" 1 "$build/bin/ge-adcheck" --ops NoSuchOp
check "nothing asked for" 2 "$build/bin/ge-adcheck"
check "a model that is not there" 2 "$build/bin/ge-adcheck" --model "$folder/none.gt"
# It notices: a wrong slope, and lines that are no cases.
printf 'Abs(f64[3] at [-1, 0, 2]) => [-1, 0.5, 1]\n' >"$folder/wrong.txt"
check "a slope that is stated wrongly" 1 "$build/bin/ge-adcheck" --ops Abs --cases "$folder"
# What fails unbroken has no say in a mutation test, which fails by it.
check "a mutation test with it" 0 grep -q 'fails unbroken' \
  <("$build/bin/ge-adcheck" --mutate --ops Abs --cases "$folder")
printf 'Abs(f64[3] at [-1, 0, 2]) => [-1, 0, 1] bent [0, 1, 0]\n' >"$folder/wrong.txt"
check "a bend that is stated wrongly" 1 "$build/bin/ge-adcheck" --ops Abs --order 2 --cases "$folder"
printf 'Abs(f64[3] at [-1, 0, 2]) => [-1, 0, 1] bent [0, 0, 0]\n' >"$folder/wrong.txt"
check "a bend that is stated" 0 "$build/bin/ge-adcheck" --ops Abs --order 2 --cases "$folder"
check "a rule whose every mutant is noticed" 0 \
  "$build/bin/ge-adcheck" --mutate --ops LpNormalization
for line in 'Abs(f64[3' 'Abs(f64[3] in 3..1)' 'Abs(f64[3] at [1])' 'Abs(i64[3])' 'Abs(f64[3]) -> 99' 'Abs'; do
  printf '%s\n' "$line" >"$folder/wrong.txt"
  check "the line '$line'" 2 "$build/bin/ge-adcheck" --ops Abs --cases "$folder"
done
# A rule without a case.
printf 'Abs(f64[3])\n' >"$folder/wrong.txt"
check "a rule without a case" 1 "$build/bin/ge-adcheck" --ops Abs,Exp --cases "$folder"
echo "$passed passed, $failed failed, $skipped skipped"
