#!/usr/bin/env bash
# What the engines of the CPU offer and refuse, as tests/offers has it: prices, layouts, memory, at
# one instruction set, two threads and a machine of fixed speeds, since prices hang on all three. What
# oneDNN asks of memory is left out: it hangs on the library and its processor.
# Where a price differs, how many times the old one the new one is stands behind it. What was meant
# is written anew by `tests/e2e/engines/offers.sh --update`.
set -u
cd "$(dirname "$0")/../../.." || exit 2
source tests/counted.sh
if ! isa_sets | grep -qx avx2; then
  echo "the prices are those of AVX2, which this processor lacks"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
export GE_MAX_ISA=avx2 GE_CACHE_DIR=off GE_PROBE=fixed
"${GE_BUILD:-build/release}/bin/ge-test" --threads 2 "$@" tests/offers | awk '
  function price(line) { return match(line, /[0-9.]+ ns/) ? substr(line, RSTART, RLENGTH - 3) : 0 }
  /^ +- / { old[++last] = price($0); print; next }
  /^ +\+ / {
    was = first < last ? old[++first] : 0; now = price($0)
    print $0 (was > 0 && now > 0 && was != now ? sprintf("   (%.2f times)", now / was) : "")
    next
  }
  { first = last = 0; print }'
exit "${PIPESTATUS[0]}"
