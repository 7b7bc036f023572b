#!/usr/bin/env bash
# clang-tidy over the product by .clang-tidy: names of the house, and mistakes that compilers let pass.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/code/tidy.py "$@"
