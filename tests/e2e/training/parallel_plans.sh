#!/usr/bin/env bash
# Plans of steps on many ranks: their collectives, pins, and what ranks learn by them.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/training/parallel_plans.py
