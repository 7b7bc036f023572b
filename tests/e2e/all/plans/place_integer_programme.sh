#!/usr/bin/env bash
# Placement against an integer programme (highspy) on 100 graphs that are not series-parallel.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/all/plans/place_integer_programme.py
