#!/usr/bin/env bash
# Plants ten bugs in the engines' kernels, one at a time: random models must find each of them.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/code/random_models_bugs.py "$@"
