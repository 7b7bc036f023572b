#!/usr/bin/env bash
# Who owns what at the C border, and for how long: output tensors used again, what `done` may do,
# plans evicted while they are used, arrays that cannot be walked. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../.."
build=${GE_BUILD:-build/release}
out=$build/lifetimes_client
passed=0 failed=0 skipped=0
read -r -a flags <<<"${CFLAGS:-}"
if ! cc -std=c11 -O1 -Wall -Wextra -Werror -pedantic "${flags[@]}" -Isdk/include \
  tests/e2e/lifetimes_client.c -o "$out" -L"$build/lib" -lgraphengine -lpthread \
  -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
all=ref
for engine in native onednn openblas; do
  if [[ -e $build/lib/graphengine/$engine.so ]]; then all=$engine,$all; fi
done
if [[ $all == ref ]]; then
  echo "skipped: no engine but ref is built"
  skipped=$((skipped + 1))
fi
for engines in ref $([[ $all == ref ]] || echo "$all"); do
  for command in reuse done arrays "evict 1 300" "evict 4 300"; do
    # shellcheck disable=SC2086  # a command with its arguments
    text=$(timeout 300 "$out" tests/e2e/lifetimes.gt "$engines" $command 2>&1)
    code=$?
    if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
      passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    fi
    if [[ $code != 0 ]]; then
      failed=$((failed + 1))
      echo "FAILED (exit $code): $command under $engines"
    fi
    echo "$text" | grep -v ' passed, '
  done
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
