#!/usr/bin/env bash
# Writes tests/fuzz/corpus/TARGET.tar.xz: of what fuzz.sh has found, the few inputs that reach code
# which the seeds made of the tests do not. Inputs over 2 KB are left out: all archives together are
# to stay under 200 KB. GE_FUZZ_TARGETS names some. Needs what fuzz.sh leaves in build/fuzz.
set -eu
cd "$(dirname "$0")/../.."
export GE_CACHE_DIR=off GE_PROBE=fixed ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0
mkdir -p tests/fuzz/corpus
for target in ${GE_FUZZ_TARGETS:-gt gepb capsule onnx plan price_cache images weight_scanner}; do
  few=build/fuzz/few/$target log=build/fuzz/$target.merge.log
  rm -rf "$few" && mkdir -p "$few"
  cp build/fuzz/seeds/"$target"/seed_* "$few/"
  # Edges alone, not how often each is passed: else thousands would stay.
  "build/fuzz/bin/fuzz-${target//_/-}" -merge=1 -set_cover_merge=1 -use_counters=0 -max_len=2048 \
    "$few" build/fuzz/seeds/"$target" build/fuzz/corpus/"$target" >"$log" 2>&1 ||
    { tail -n 5 "$log" && exit 1; }
  (cd "$few" && find . -type f ! -name 'seed_*' -size -2049c | LC_ALL=C sort |
    tar -cf - --owner=0 --group=0 --mtime=@0 -T -) | xz -9e >"tests/fuzz/corpus/$target.tar.xz"
  echo "$target: $(tar -tf "tests/fuzz/corpus/$target.tar.xz" | wc -l) inputs," \
    "$(stat -c %s "tests/fuzz/corpus/$target.tar.xz") bytes"
done
