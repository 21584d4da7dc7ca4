#!/usr/bin/env bash
# Opens JupyterLab on a sample workspace with the agent's panel beside the notebook. Usage: lab.sh FOLDER [jupyter lab's options]
set -euo pipefail
workspace=$1
shift

# Made once; what a person does in it afterwards is theirs and never touched.
if [ ! -e "$workspace" ]; then
  cp -R examples "$workspace"
fi

# JupyterLab's own "workspaces" hold a window's layout: this one has the panel open.
export JUPYTERLAB_WORKSPACES_DIR="$workspace/.jupyterlab-layout"
if [ ! -d "$JUPYTERLAB_WORKSPACES_DIR" ]; then
  mkdir -p "$JUPYTERLAB_WORKSPACES_DIR"
  jupyter lab workspaces import scripts/sample-layout.json >/dev/null
fi

options=(--notebook-dir "$workspace" --LabApp.default_url=/lab/workspaces/hdsp-agent)
# Containers often have no other user.
[ "$(id -u)" -eq 0 ] && options+=(--allow-root)
exec jupyter lab "${options[@]}" "$@"
