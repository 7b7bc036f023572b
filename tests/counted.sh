# Sourced by scripts whose steps each end with a line of counts: adds them up. Not a test.
# counted NAME COMMAND...: runs COMMAND, shows what failed and its counts; ends with total.
passed=0 failed=0 skipped=0
counted() {
  local name=$1 out line p f s begin=$SECONDS code
  shift
  out=$("$@" 2>&1)
  code=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' <<<"$out" | tail -n 1)
  if [[ -z $line ]]; then
    tail -n 20 <<<"$out"
    line="0 passed, 1 failed, 0 skipped"
  fi
  read -r p _ f _ s _ <<<"${line//,/}"
  if [[ $code != 0 && $f == 0 ]]; then f=1; fi
  if [[ $f != 0 ]]; then grep -A 12 '^FAILED' <<<"$out" | cut -c 1-400 | head -n 60; fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  printf '%-40s %s, %d s\n' "$name" "$line" $((SECONDS - begin))
}
total() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [[ $failed == 0 && $passed -gt 0 ]]
}
# The instruction sets that this host has, as GE_MAX_ISA names them.
isa_sets() {
  echo sse4.2
  ! grep -qw avx2 /proc/cpuinfo || echo avx2
  ! grep -qw avx512bw /proc/cpuinfo || echo avx512
}
