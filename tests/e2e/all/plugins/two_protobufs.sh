#!/usr/bin/env bash
# Two plugins with a protobuf each of their own run in one process, beside the host's.
set -eu
cd "$(dirname "$0")/../../../.."
exec python3 tests/e2e/all/plugins/two_protobufs.py "$@"
