#!/usr/bin/env bash
# Arenas, max-live and peak memory of real networks.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/all/plans/memory.py
