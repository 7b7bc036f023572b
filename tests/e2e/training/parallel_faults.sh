#!/usr/bin/env bash
# Ranks that are killed, stopped, fail, run something else or end early: the others end and say who.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/parallel_faults.py
