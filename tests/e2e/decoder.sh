#!/usr/bin/env bash
# A decoder token by token: its past fed back as an input without a copy, and kept in caches by the
# session; both give the same. GE_BUILD is the build folder.
set -u
cd "$(dirname "$0")/../.."
build=${GE_BUILD:-build/release}
out=$build/decoder_client
passed=0 failed=0 skipped=0
read -r -a flags <<<"${CFLAGS:-}"
if ! cc -std=c11 -O1 -Wall -Wextra -Werror -pedantic "${flags[@]}" -Isdk/include -I. \
  tests/e2e/decoder_client.c -o "$out" -L"$build/lib" -lgraphengine -lm \
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
  text=$(timeout 300 "$out" tests/e2e/decoder.gt "$engines" "$build" 2>&1)
  code=$?
  if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  fi
  if [[ $code != 0 ]]; then
    failed=$((failed + 1))
    echo "FAILED (exit $code) under $engines"
  fi
  echo "$text" | grep -v ' passed, '
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 ]]
