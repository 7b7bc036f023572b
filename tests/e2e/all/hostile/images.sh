#!/usr/bin/env bash
# The encoded pictures of ONNX's node tests, damaged: the image codecs refuse or decode them.
set -eu
cd "$(dirname "$0")/../../../.."
exec build/venv/bin/python tests/e2e/all/hostile/images.py "$@"
