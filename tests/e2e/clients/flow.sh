#!/usr/bin/env bash
# Control flow and shapes that the data decide, from a C11 program. GE_BUILD is the build folder,
# GE_FLOW_RUNS the runs at random shapes (2000).
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
out=$build/flow_client
passed=0 failed=0 skipped=0
read -r -a flags <<<"${CFLAGS:-}"
if ! cc -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall -Wextra -Werror "${flags[@]}" -I. -Isdk/include \
  tests/e2e/clients/flow_client.c -o "$out" -L"$build/lib" -lgraphengine -lpthread \
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
  # TSan sees no order in how the loader reuses the thread-local storage of libgomp's workers.
  tsan=${TSAN_OPTIONS:-}
  [[ $engines == ref ]] || tsan+=:ignore_noninstrumented_modules=1
  text=$(TSAN_OPTIONS=$tsan "$out" tests/e2e/models/loop.gt "$engines" "${GE_FLOW_RUNS:-2000}" 2>&1)
  code=$?
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
  [[ $code -le 1 ]] || { failed=$((failed + 1)) && echo "exit $code"; }
  echo "$text" | grep -v ' passed, '
done

# check NAME COMMAND...: counts whether it succeeds.
check() {
  local name=$1
  shift
  if "$@" >/dev/null 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
  fi
}
# ge explain of what is planned piece by piece: one run, then each piece.
explain=("$build/bin/ge" explain tests/e2e/models/loop.gt --entry pick --engines ref)
check "explain names pieces" grep -q "piece 1, of function" <("${explain[@]}" 2>/dev/null)
check "explain names classes" grep -q "; class " <("${explain[@]}" 2>/dev/null)
check "explain counts pieces" grep -q "planned in one run on these inputs" <("${explain[@]}" 2>/dev/null)
check "explain --json lists pieces" python3 -c '
import json, sys
pieces = json.load(sys.stdin)["pieces"]
assert pieces and all(p["function"] and p["nodes"] for p in pieces)
' < <("${explain[@]}" --json 2>/dev/null)
picture=$("${explain[@]}" --plot "$build/pieces.svg" 2>&1)
check "explain --plot of pieces is refused" test "$?" -ne 0 -a -z "${picture##*planned piece by piece*}"
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
