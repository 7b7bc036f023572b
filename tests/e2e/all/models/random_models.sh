#!/usr/bin/env bash
# 2,000 random models: every mix of engines agrees with ref, and the models are what they are meant
# to be: 15 nodes in the mean, 120 operators, 30 % with symbolic sizes, 10 % with If or Loop, and
# fewer than one output in ten judged loosely. 600 of them again with one thread, which libraries'
# kernels share out differently.
set -u
cd "$(dirname "$0")/../../../.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build/release/bin/ge-test --random-models "${GE_RANDOM_MODELS:-2000}" --seed 1 "$@" | tee "$log" |
  sed '$d'
failed_runs=${PIPESTATUS[0]}
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
alone=$(taskset -c "$cpu" build/release/bin/ge-test --random-models "${GE_RANDOM_MODELS_ALONE:-600}" \
  --first 1400 --seed 1 "$@") || failed_runs=1
echo "with one thread:"
echo "$alone" | tee -a "$log"
awk -v code="$failed_runs" '
  function want(what, found, least) {
    if (found + 0 >= least) { ++good } else {
      ++bad; printf "FAILED  %s: found %s, wanted at least %s\n", what, found, least
    }
  }
  / nodes in the mean / { sub(/.* models, /, ""); want("nodes in the mean", $1, 15) }
  / operators, / {
    want("operators", $1, 120); want("% with symbolic sizes", $3, 30)
    for (i = 1; i <= NF; ++i) if ($i == "sizes,") want("% with If or Loop", $(i + 1), 10)
    match($0, /\([0-9.]+ %\)/); want("% judged closely", 100 - substr($0, RSTART + 1, RLENGTH - 4), 90)
  }
  /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5; ++counted }
  END {
    if (counted != 2) { print "FAILED  ge-test ended without counts, exit " code; ++bad }
    printf "%d passed, %d failed, %d skipped\n", p + good, f + bad, s
    exit f + bad > 0 || code != 0
  }' "$log"
