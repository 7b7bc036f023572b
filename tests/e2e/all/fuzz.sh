#!/usr/bin/env bash
# Fuzzes every target of tests/fuzz under ASan and UBSan for GE_FUZZ_RUNS inputs each (GE_FUZZ_TARGETS
# names some), then counts the lines that the kept corpus reaches, by a build without sanitizers.
# GE_FUZZ_COVERAGE=off leaves that out. Corpora and findings: build/fuzz/corpus, build/fuzz/findings.
set -u
cd "$(dirname "$0")/../../.."
runs=${GE_FUZZ_RUNS:-1000000}
targets=${GE_FUZZ_TARGETS:-images weight_scanner price_cache plan gt gepb onnx}
export GE_CACHE_DIR=off GE_PROBE=fixed
# A size that no allocator gives answers null, as it does for users.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:intercept_tls_get_addr=0
export UBSAN_OPTIONS=print_stacktrace=1
passed=0 failed=0 skipped=0

end() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [[ $failed == 0 ]]
  exit
}

build() {  # PRESET: the targets named
  local names=()
  for target in $targets; do names+=("fuzz-${target//_/-}"); done
  cmake --preset "$1" >"build/$1.log" 2>&1 && ninja -C "build/$1" "${names[@]}" >>"build/$1.log" 2>&1 && return
  grep -E -A 3 'error:|Error' "build/$1.log" | head -n 20
  failed=$((failed + 1))
  return 1
}

fuzz() {  # TARGET
  local target=$1 corpus=build/fuzz/corpus/$1 log=build/fuzz/$1.log size=4096 options=()
  [[ $target != images ]] || size=65536  # encoded pictures are no smaller
  [[ ! -e tests/fuzz/$target.dict ]] || options=("-dict=tests/fuzz/$target.dict")
  mkdir -p "$corpus" "build/fuzz/findings/$target"
  # Memory in MB, times in s: of one input. The seed is fixed, so that a finding is found again.
  build/fuzz/bin/fuzz-"${target//_/-}" "$corpus" "build/fuzz/seeds/$target" -runs="$runs" -seed=1 \
    -max_len="$size" -rss_limit_mb=3072 -timeout=25 -print_final_stats=1 "${options[@]}" \
    -artifact_prefix="build/fuzz/findings/$target/" >"$log" 2>&1
  local code=$? done
  done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "$target: ${done:-0} runs, $(find "$corpus" -type f | wc -l) inputs kept," \
    "$(grep -o 'cov: [0-9]*' "$log" | tail -n 1) edges"
  if [[ $code == 0 && ${done:-0} -ge $runs ]]; then
    passed=$((passed + 1))
  else
    grep -E -A 12 'ERROR: |runtime error:|SUMMARY: |require' "$log" | head -n 30
    failed=$((failed + 1))
  fi
}

cover() {  # TARGET: lines of the product's files, by clang's source coverage
  local target=$1 program=build/fuzz-coverage/bin/fuzz-${1//_/-} profile=build/fuzz-coverage/$1
  LLVM_PROFILE_FILE=$profile.raw "$program" "build/fuzz/corpus/$target" "build/fuzz/seeds/$target" \
    >/dev/null 2>&1 && llvm-profdata-14 merge -o "$profile.data" "$profile.raw" ||
    { echo "  $target: not counted" && failed=$((failed + 1)) && return; }
  echo "$target: lines reached, of all in each folder that it reaches"
  llvm-cov-14 export -summary-only -instr-profile="$profile.data" "$program" |
    python3 tests/fuzz/coverage.py
}

build fuzz || end
python3 tests/fuzz/seeds.py build/fuzz/seeds || { failed=$((failed + 1)) && end; }
for target in $targets; do fuzz "$target"; done
if [[ ${GE_FUZZ_COVERAGE:-on} != off ]] && build fuzz-coverage; then
  for target in $targets; do cover "$target"; done
fi
end
