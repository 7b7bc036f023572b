#!/usr/bin/env bash
# Fuzzes every target of tests/fuzz under ASan and UBSan for GE_FUZZ_RUNS inputs each (GE_FUZZ_TARGETS
# names some); 20000 of them, which ./test --all makes, take minutes, and a million hours, since gt, gepb
# and onnx do some 60 a second. GE_FUZZ_COVERAGE=on: then counts the lines that the kept corpus reaches, by a
# build without sanitizers. Corpora and findings: build/fuzz/corpus, build/fuzz/findings.
set -u
cd "$(dirname "$0")/../../../.."
runs=${GE_FUZZ_RUNS:-20000}
# The slow ones first: as many at a time as there are cores.
targets=${GE_FUZZ_TARGETS:-gt gepb capsule onnx plan price_cache images weight_scanner $(
  printf 'data/%s ' t.npy s.npz t.npz t-ubyte t-ubyte.gz t.bin t.csv t.tsv t.jsonl t.txt t.tar t.gerec)}
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

# program_of TARGET: data/FILE is the program fuzz-data for files of such a name.
program_of() { target=${1%%/*} && echo "fuzz-${target//_/-}"; }

build() {  # PRESET: the targets named
  local names=()
  for target in $targets; do names+=("$(program_of "$target")"); done
  cmake --preset "$1" >"build/$1.log" 2>&1 && ninja -C "build/$1" "${names[@]}" >>"build/$1.log" 2>&1 && return
  grep -E -A 3 'error:|Error' "build/$1.log" | head -n 20
  failed=$((failed + 1))
  return 1
}

# some TARGET RUNS SEED: one run of the fuzzer, its words in $log. The seed is given, so that a finding
# is found again. Memory in MB and times in s are those of one input.
some() {
  local target=$1 size=4096 options=()
  [[ $target != images && $target != data/* ]] || size=65536  # these are no smaller
  # What it keeps count of would take two thirds of the time where an input reaches much.
  [[ $target != gt && $target != gepb && $target != capsule && $target != onnx ]] || options=(-entropic=0)
  [[ ! -e tests/fuzz/$target.dict ]] || options+=("-dict=tests/fuzz/$target.dict")
  GE_FUZZ_FILE=${target#*/} "$program" "$corpus" "build/fuzz/seeds/$target" -runs="$2" -seed="$3" -max_len="$size" \
    -rss_limit_mb=3072 -timeout=25 -timeout_exitcode=70 -print_final_stats=1 "${options[@]}" \
    -artifact_prefix="$findings/" >"$log" 2>&1
}

# slow_again: whether an input that took too long does so again. One that does not is dropped: what
# took the time was another program of this machine.
slow_again() {
  local input
  for input in "$findings"/timeout-*; do
    GE_FUZZ_FILE=${target#*/} "$program" -timeout=25 "$input" >>"$log" 2>&1 || return 0
    rm "$input"
  done
  return 1
}

fuzz() {  # TARGET
  local target=$1 code units done=0 seed=1
  local program=build/fuzz/bin/$(program_of "$1") corpus=build/fuzz/corpus/$1 log=build/fuzz/$1.log
  local findings=build/fuzz/findings/$1
  mkdir -p "$corpus" "$findings" "$(dirname "$log")"
  while true; do
    some "$target" $((runs - done)) "$seed"
    code=$? units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    done=$((done + ${units:-0})) seed=$((seed + 1))
    if [[ $code != 70 ]] || slow_again; then break; fi
    code=0
    [[ $done -lt $runs ]] || break
  done
  echo "$target: $done runs, $(find "$corpus" -type f | wc -l) inputs kept," \
    "$(grep -o 'cov: [0-9]*' "$log" | tail -n 1) edges," \
    "$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log") a second"
  if [[ $code == 0 && $done -ge $runs ]]; then return; fi
  grep -E -A 12 'ERROR: |runtime error:|SUMMARY: |require' "$log" | head -n 30
  return 1
}

fuzz_all() {
  local target
  local -A process=()
  for target in $targets; do
    while [[ $(jobs -rp | wc -l) -ge $(nproc) ]]; do wait -n; done
    mkdir -p "$(dirname "build/fuzz/$target")"
    fuzz "$target" >"build/fuzz/$target.said" &
    process[$target]=$!
  done
  for target in $targets; do
    if wait "${process[$target]}"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    cat "build/fuzz/$target.said"
  done
}

cover() {  # TARGET: lines of the product's files, by clang's source coverage
  local target=$1 program=build/fuzz-coverage/bin/$(program_of "$1") profile=build/fuzz-coverage/$1
  LLVM_PROFILE_FILE=$profile.raw GE_FUZZ_FILE=${target#*/} "$program" "build/fuzz/corpus/$target" "build/fuzz/seeds/$target" \
    >/dev/null 2>&1 && llvm-profdata-14 merge -o "$profile.data" "$profile.raw" ||
    { echo "  $target: not counted" && failed=$((failed + 1)) && return; }
  echo "$target: lines reached, of all in each folder that it reaches"
  llvm-cov-14 export -summary-only -instr-profile="$profile.data" "$program" |
    python3 tests/fuzz/coverage.py
}

build fuzz || end
python3 tests/fuzz/seeds.py build/fuzz/seeds || { failed=$((failed + 1)) && end; }
fuzz_all
if [[ ${GE_FUZZ_COVERAGE:-off} == on ]] && build fuzz-coverage; then
  for target in $targets; do cover "$target"; done
fi
end
