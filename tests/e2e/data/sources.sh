#!/usr/bin/env bash
# The sources of data pipelines: files as numpy, zipfile, tarfile, csv and json write them give their
# values; damaged and hostile ones are refused by name.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/sources.py
