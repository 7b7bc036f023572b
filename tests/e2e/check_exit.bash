# check NAME EXIT COMMAND...: counts in `passed` or `failed`, which who sources this has, whether the
# command ends so.
check() {
  local name=$1 wanted=$2
  shift 2
  "$@" >/dev/null 2>&1
  local code=$?
  if [[ $code -eq $wanted ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $name: exit $code, wanted $wanted"
  fi
}
