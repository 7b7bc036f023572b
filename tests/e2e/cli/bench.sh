#!/usr/bin/env bash
# ge bench: each number of callers gets answers, the report adds up, and bad wishes are refused.
set -u
cd "$(dirname "$0")/../../.." || exit 2
export GE_CACHE_DIR=off GE_PROBE=fixed
ge=${GE_BUILD:-build/release}/bin/ge
model=tests/e2e/models/three_nodes.gt
passed=0 failed=0
check() {  # NAME COMMAND...
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED  $name"; fi
}
report=$("$ge" bench "$model" --engines ref --concurrency 1,3 --seconds 0.3 --json)
adds_up() {
  python3 -c '
import json, sys
rows = json.loads(sys.argv[1])["rows"]
assert [r["callers"] for r in rows] == [1, 3], rows
for r in rows:
    assert r["requests"] >= r["callers"] * r["least_requests"] > 0, r
    assert 0 < r["median_ms"] <= r["p99_ms"] and r["requests_per_s"] > 0, r
' "$report"
}
check "the report adds up" adds_up
table() { [[ $("$ge" bench "$model" --engines ref --concurrency 2 --seconds 0.1 | wc -l) == 2 ]]; }
check "a row a number of callers" table
refused() {  # CODE WORDS ARGUMENTS...
  local code=$1 words=$2 said
  shift 2
  said=$("$ge" bench "$model" --engines ref "$@" 2>&1)
  [[ $? == "$code" && $said == *"$words"* ]]
}
check "no callers" refused 2 "--concurrency is 0, wanted 1 to 1024" --concurrency 0
check "no time" refused 2 "--seconds" --seconds 0
check "no number" refused 2 "--concurrency" --concurrency some
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
