#!/usr/bin/env bash
# One-node models of com.microsoft's operators against ONNX Runtime; microsoft_ops.py says how.
set -eu
cd "$(dirname "$0")/../../../.."
export GE_CACHE_DIR=off GE_PROBE=fixed
exec build/venv/bin/python tests/e2e/all/engines/microsoft_ops.py --engines ref \
  --engines native,onednn,ref "$@"
