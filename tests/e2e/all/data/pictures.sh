#!/usr/bin/env bash
# 10,000 random parts of pictures of every kind, and 3,000 of them resized: tests/e2e/data/pictures.py.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/data/pictures.py --boxes 10000
