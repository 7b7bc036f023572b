# What adcheck.sh and all/gradients/adcheck.sh share; both source it. The counts that they print last.
build=${GE_BUILD:-build/release}
export GE_CACHE_DIR=off GE_PROBE=fixed
passed=0 failed=0 skipped=0

# step ARGUMENTS...: runs ge-adcheck and adds what its last line counts.
step() {
  local text code
  text=$("$build/bin/ge-adcheck" "$@" 2>&1)
  code=$?
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
    [[ $code -le 1 ]] || { failed=$((failed + 1)) && echo "exit $code of ge-adcheck $*"; }
  else
    failed=$((failed + 1))
    echo "exit $code of ge-adcheck $*, which counts nothing:" && echo "$text" | tail -5
  fi
  echo "$text" | grep -E '^(FAILED|UNNOTICED|skipped:|equal:|nodes executed|greatest)|mutants are noticed'
}
