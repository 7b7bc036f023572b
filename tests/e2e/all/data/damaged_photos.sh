#!/usr/bin/env bash
# 2,000 photos, 20 of them damaged: tests/e2e/data/damaged_photos.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/data/damaged_photos.py --photos 2000
