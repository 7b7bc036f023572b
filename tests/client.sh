# Sourced by scripts that build a client of the library and run it for several engines or models.
# Not a test.
build=${GE_BUILD:-build/release}
passed=0 failed=0 skipped=0
# client OUT COMPILER ARGUMENT...: builds a client against the library; ends the script where it cannot.
client() {
  local to=$1
  shift
  local flags
  read -r -a flags <<<"${CFLAGS:-}"
  if "$@" -O1 -Wall -Wextra "${flags[@]}" -Isdk/include -I. -o "$to" -L"$build/lib" -lgraphengine \
    -Wl,-rpath,"$PWD/$build/lib"; then
    return
  fi
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}
# engine_lists: ref, and with it all others that are built, by price.
engine_lists() {
  local all=ref engine
  for engine in native onednn openblas; do
    if [[ -e $build/lib/graphengine/$engine.so ]]; then all=$engine,$all; fi
  done
  echo ref
  if [[ $all != ref ]]; then echo "$all"; fi
}
# ran NAME CODE TEXT: adds up the counts in what a client printed; a bad exit or no counts is a failure.
ran() {
  local f=0
  if [[ $3 =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    f=${BASH_REMATCH[2]}
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + f))
  else
    f=1 failed=$((failed + 1))
  fi
  if [[ $2 != 0 ]]; then
    if [[ $f == 0 ]]; then failed=$((failed + 1)); fi
    echo "FAILED (exit $2): $1"
  fi
}
# sum_up: what ./test reads last.
sum_up() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [[ $failed == 0 && $passed -gt 0 ]]
}
