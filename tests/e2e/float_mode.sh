#!/usr/bin/env bash
# Runs leave the floating-point mode of the application's threads as it was, OpenMP's workers
# included, and denormals count as zero or not as the session says, on each engine.
set -u
cd "$(dirname "$0")/../.."
build=${GE_BUILD:-build/release}
read -r -a flags <<<"${CFLAGS:-}"
if ! cc -std=c11 -O1 -fopenmp -Wall -Wextra -Werror "${flags[@]}" -Isdk/include \
  tests/e2e/float_mode.c -o "$build/float_mode" -L"$build/lib" -lgraphengine \
  -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
passed=0 failed=0
for engines in ref native,ref onednn,ref openblas,ref onednn,native,openblas,ref \
  "$PWD/$build/lib/samples/devsim.so:wrap=ref"; do
  for workers in fresh used; do
    text=$("$build/float_mode" tests/e2e/float_mode.gt "$engines" $workers 2>&1)
    code=$?
    if [[ $text =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
      passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
      failed=$((failed + 1))
      echo "FAILED (exit $code): $engines $workers"
    fi
    echo "$text" | grep -v ' passed, '
  done
done
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
