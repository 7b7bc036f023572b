#!/usr/bin/env bash
# Batches by the C API. GE_BUILD: the build folder.
set -u
cd "$(dirname "$0")/../../.."
build=${GE_BUILD:-build/release}
read -r -a flags <<<"${CFLAGS:-}"
if ! cc -std=c11 -O1 -Wall -Wextra -Werror -pedantic "${flags[@]}" -I. -Isdk/include \
  tests/e2e/data/batches_client.c -o "$build/batches_client" -L"$build/lib" -lgraphengine -lpthread \
  -Wl,-rpath,"$PWD/$build/lib"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
exec "$build/batches_client" tests/e2e/data/batches.gt "$build/batches_pixels.npy"
