#!/usr/bin/env bash
# Training in less memory: the same bits where placement is pinned.
set -eu
cd "$(dirname "$0")/../../.."
GE_CACHE_DIR=off GE_PROBE=fixed exec build/venv/bin/python tests/e2e/training/remat.py
