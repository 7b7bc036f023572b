#!/usr/bin/env bash
# Control flow and shapes that the data decide, from a C11 program. GE_BUILD is the build folder,
# GE_FLOW_RUNS the runs at random shapes (2000).
set -u
cd "$(dirname "$0")/../.."
build=${GE_BUILD:-build/release}
out=$build/flow_client
passed=0 failed=0 skipped=0
read -r -a flags <<<"${CFLAGS:-}"
if ! cc -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall -Wextra -Werror "${flags[@]}" -I. -Isdk/include \
  tests/e2e/flow_client.c -o "$out" -L"$build/lib" -lgraphengine -lpthread \
  -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
for engines in ref native,onednn,openblas,ref; do
  if [[ $engines != ref && ! -e $build/lib/graphengine/native.so ]]; then
    echo "skipped: $engines: these engines are not built"
    skipped=$((skipped + 1))
    continue
  fi
  echo "under $engines"
  text=$("$out" tests/e2e/loop.gt "$engines" "${GE_FLOW_RUNS:-2000}" 2>&1)
  code=$?
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
  [[ $code -le 1 ]] || { failed=$((failed + 1)) && echo "exit $code"; }
  echo "$text" | grep -v ' passed, '
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
