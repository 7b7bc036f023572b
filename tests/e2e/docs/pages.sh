#!/usr/bin/env bash
# README, the pages whose commands need no clone, and the guide of plugins word for word, typed beside
# the Debian package that dpkg has installed, in a root where nothing else of ours is.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 tests/e2e/docs/pages.py --as deb "$@"
