#!/usr/bin/env bash
# What a rank's session has beside its step: boxes of states, eval that gathers them, agree, metadata.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/parallel_entries.py
