#!/usr/bin/env bash
# README, the page of training and that of the text form, typed beside an installed tree in a root where
# nothing else of ours is.
set -eu
cd "$(dirname "$0")/../.."
exec python3 tests/e2e/pages.py "$@"
