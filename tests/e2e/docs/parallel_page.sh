#!/usr/bin/env bash
# README's "On several ranks" and docs/parallel.md, typed on ranks of MPI.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/docs/parallel_page.py
