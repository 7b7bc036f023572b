#!/usr/bin/env bash
# Pictures of data pipelines: parts of JPEG and PNG against whole ones, sizes against Pillow, steps
# against numpy, damaged ones. `--boxes N`: so many random parts.
set -eu
cd "$(dirname "$0")/../../.."
exec build/venv/bin/python tests/e2e/data/pictures.py "$@"
