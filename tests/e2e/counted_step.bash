# What steps share whose programs count for themselves; who sources it has `build`.
export GE_CACHE_DIR=off GE_PROBE=fixed
passed=0 failed=0 skipped=0

# counted PROGRAM ARGUMENTS...: runs a program of the build and adds what its last line counts. What it lists
# as failed counts where its exit code says so, too: of mutants that nobody notices some are allowed.
counted() {
  local text code program=$1
  shift
  text=$("$build/bin/$program" "$@" 2>&1)
  code=$?
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped ]]; then
    passed=$((passed + BASH_REMATCH[1])) skipped=$((skipped + BASH_REMATCH[3]))
    [[ $code -eq 0 ]] || failed=$((failed + BASH_REMATCH[2]))
    if [[ $code -gt 1 || ($code -eq 1 && ${BASH_REMATCH[2]} -eq 0) ]]; then
      failed=$((failed + 1)) && echo "exit $code of $program $*"
    fi
  else
    failed=$((failed + 1))
    echo "exit $code of $program $*, which counts nothing:" && echo "$text" | tail -5
  fi
  echo "$text" | grep -E '^(FAILED|UNNOTICED|skipped:|equal:|nodes executed|greatest)|mutants are noticed|move something'
}
