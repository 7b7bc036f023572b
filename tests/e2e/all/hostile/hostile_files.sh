#!/usr/bin/env bash
# Files of states and JSON of ours with 5,000 changes each (./test makes some hundred), by the unit
# tests of the release build and, where it is built, of the asan preset.
set -u
cd "$(dirname "$0")/../../../.."
source tests/counted.sh
export GE_MUTATIONS=${GE_MUTATIONS:-5000} GE_CACHE_DIR=off GE_PROBE=fixed
export ASAN_OPTIONS=detect_leaks=1:intercept_tls_get_addr=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

# unit PROGRAM: the tests of one build, with a line of counts.
unit() {
  local out code ok bad
  out=$("$1" --gtest_filter='StateFiles.*:CountedRows.*:OurJson.*:OurCaches.*:JsonText.*' 2>&1)
  code=$?
  ok=$(grep -c '^\[       OK \]' <<<"$out")
  bad=$(grep -c '^\[  FAILED  \] .* ms)$' <<<"$out")
  if [[ $code != 0 && $bad == 0 ]]; then bad=1; fi
  if [[ $bad != 0 ]]; then
    echo "FAILED: $1 ended with $code"
    grep -vE '^\[ +(RUN|OK|-+)' <<<"$out" | head -n 60
  fi
  echo "$ok passed, $bad failed, 0 skipped"
  return "$code"
}
for preset in release asan; do
  if [[ -x build/$preset/bin/ge-unit ]]; then counted "$preset" unit "build/$preset/bin/ge-unit"; fi
done
total
