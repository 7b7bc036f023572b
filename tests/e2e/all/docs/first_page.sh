#!/usr/bin/env bash
# README's commands of a clone, typed in a fresh one: it is installed, built, tested, packed and used.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/docs/first_page.py "$@"
