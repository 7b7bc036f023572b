#!/usr/bin/env bash
# ge train: files of at most 100 kB that claim or unpack to more than anybody has memory or time for.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/hostile/data_bombs.py
