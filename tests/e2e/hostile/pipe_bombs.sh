#!/usr/bin/env bash
# ge data: files and pipes of at most 10 kB that claim or unpack to more than anybody has memory or time for.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/hostile/pipe_bombs.py
