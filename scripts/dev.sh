#!/usr/bin/env bash
# Rebuilds the front end on every change and runs JupyterLab beside it; reload the page to see a change.
# Usage: dev.sh FOLDER
set -euo pipefail

jlpm build
jupyter-builder develop . --overwrite
jlpm watch &
watcher=$!
trap 'kill "$watcher" 2>/dev/null || true' EXIT
bash "$(dirname "$0")/lab.sh" "$1"
