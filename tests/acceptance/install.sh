#!/bin/sh
# Fetches the servers and clients from npm that the acceptance tests talk to into .cache/npm of the repository.
#
# The gateway itself needs none of this.  Where npm or node is missing, the tests that need them skip
# and say so.  The version ranges are pinned here; no lock file is written.  Servers written in Python
# come with the `dev` extra.
set -eu

SERVERS='@modelcontextprotocol/server-filesystem@~2026.8.31 @modelcontextprotocol/server-everything@~2026.8.31'
CLIENTS='@modelcontextprotocol/sdk@~1.32.0 @modelcontextprotocol/client@~2.4.0'

target=$(cd "$(dirname "$0")/../.." && pwd)/.cache/npm

if ! command -v npm > /dev/null || ! command -v node > /dev/null; then
    echo "npm or node is missing: the acceptance tests on packages from npm will be skipped" >&2
elif [ -z "$(find "$target/.installed" -newer "$0" 2> /dev/null)" ]; then
    mkdir -p "$target"
    # shellcheck disable=SC2086  # a list of words on purpose
    npm install --prefix "$target" --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error \
        $SERVERS $CLIENTS
    touch "$target/.installed"
fi
