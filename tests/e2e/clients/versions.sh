#!/usr/bin/env bash
# Clients of other versions of ge.h: one built against each header that was published, shorter and
# longer structs with rubbish behind them; and runtimes. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
source tests/counted.sh
read -r -a flags <<<"${CFLAGS:-}"

# client SOURCE OUT HEADERS: builds it, or counts a failure.
client() {
  cc -std=c11 -O1 -Wall -Wextra -Werror "${flags[@]}" -I. "-I$3" "$1" -o "$2" -L"$build/lib" \
    -lgraphengine -lpthread -ldl -lm -Wl,-rpath,"$PWD/$build/lib" && return 0
  failed=$((failed + 1))
  echo "FAILED  $1 does not build against $3"
  return 1
}

if client tests/e2e/clients/versions_client.c "$build/versions_client" sdk/include; then
  for engines in ref native,onednn,openblas,ref; do
    counted "versions, $engines" "$build/versions_client" tests/e2e/models/versions.gt "$engines"
  done
fi
for header in tests/abi/published/*/; do
  version=$(basename "$header")
  # The client is today's; what it calls was there then.
  if client tests/e2e/clients/c_client.c "$build/c_client_$version" "$header"; then
    counted "$version, bad" "$build/c_client_$version" bad tests/e2e/models/two_entries.gt
    for engines in ref native,onednn,openblas,ref; do
      counted "$version, states, $engines" "$build/c_client_$version" states \
        tests/e2e/models/two_entries.gt "$engines"
    done
  fi
done
total
