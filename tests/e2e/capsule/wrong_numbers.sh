#!/usr/bin/env bash
# README's section for wrong numbers, typed against a wrong engine: it ends with the node's name.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/capsule/wrong_numbers.py "$@"
