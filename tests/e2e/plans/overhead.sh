#!/usr/bin/env bash
# 1,000 segments of two engines that do nothing: at most 100 ns each on the host, no allocation, in
# plain and in prepared runs.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
if [[ ! -x $build/bin/ge-overhead ]]; then
  echo "this build has no ge-overhead (sanitizers replace malloc themselves)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
null=$build/lib/bench
text=$("$build/bin/ge-overhead" "./$null/null_a.so:op=Neg,./$null/null_b.so:op=Sin" 1000 2000) || {
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}
python3 - "$text" <<'PY'
import json, sys
found = json.loads(sys.argv[1])
checks = {
    "segments": found["report"]["segments"] == 1000,
    "ns_per_segment": found["ns_per_segment"] <= 100,
    "allocations_per_run": found["allocations_per_run"] == 0,
    "prepared_allocations_per_run": found["prepared_allocations_per_run"] == 0,
}
print(f"{found['ns_per_segment']} ns a segment, {found['allocations_per_run']} allocations a run, "
      f"{found['report']['segments']} segments")
for name, good in checks.items():
    if not good:
        print(f"FAILED {name}")
print(f"{sum(checks.values())} passed, {len(checks) - sum(checks.values())} failed, 0 skipped")
sys.exit(0 if all(checks.values()) else 1)
PY
