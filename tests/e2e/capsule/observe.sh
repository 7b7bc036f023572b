#!/usr/bin/env bash
# Runs recorded while a session lives: by GE_OBSERVE and from C, of one plan and of pieces.
set -eu
cd "$(dirname "$0")/../../.."
source tests/client.sh
[[ -e build/models/lenet.onnx ]] || python3 tools/bench/models.py lenet >/dev/null
client "$build/observe_client" cc -std=c11 -Werror -pedantic tests/e2e/capsule/observe_client.c -lpthread
exec python3 tests/e2e/capsule/observe.py --build "$build" "$@"
