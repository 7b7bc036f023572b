#!/usr/bin/env bash
# 2,000 capsules that are cut, flipped or lie, through the subcommands that read them.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 -W ignore tests/e2e/all/hostile/capsules.py "$@"
