#!/usr/bin/env bash
# Clients of other versions of ge.h: one built against each header that was published, shorter and
# longer structs with rubbish behind them; and runtimes. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../.."
build=${GE_BUILD:-build/release}
passed=0 failed=0
read -r -a flags <<<"${CFLAGS:-}"

# client SOURCE OUT HEADERS: builds it, or counts a failure.
client() {
  cc -std=c11 -O1 -Wall -Wextra -Werror "${flags[@]}" "-I$3" "$1" -o "$2" -L"$build/lib" \
    -lgraphengine -lpthread -ldl -Wl,-rpath,"$PWD/$build/lib" && return 0
  failed=$((failed + 1))
  echo "FAILED  $1 does not build against $3"
  return 1
}

# add COMMAND...: runs it and adds its counts.
add() {
  local text code
  text=$("$@" 2>&1)
  code=$?
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  fi
  if [[ $code != 0 || ! $text =~ passed ]]; then
    failed=$((failed + 1))
    echo "FAILED (exit $code): $*"
  fi
  echo "$text" | grep -v ' passed, '
}

if client tests/e2e/versions_client.c "$build/versions_client" sdk/include; then
  add "$build/versions_client" tests/e2e/versions.gt ref
  add "$build/versions_client" tests/e2e/versions.gt native,onednn,openblas,ref
fi
for header in tests/abi/published/*/; do
  version=$(basename "$header")
  # The client is today's; what it calls was there then.
  if client tests/e2e/c_client.c "$build/c_client_$version" "$header"; then
    add "$build/c_client_$version" bad tests/e2e/two_entries.gt
    add "$build/c_client_$version" states tests/e2e/two_entries.gt ref
    add "$build/c_client_$version" states tests/e2e/two_entries.gt native,onednn,openblas,ref
  fi
done
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
