#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing (Debian 12), builds, and starts the demo: the sample model on an emulated
# small board. Words given to this script go to `shardscope` instead: ./app/run.sh runs list
#
# Without a display the demo prints what it heard and what the run cost, and draws the pages of the
# window to build/demo-pictures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source app/setup.sh

install_packages
configure_and_build shardscope shardscope-agent

program=build/release/bin/shardscope
if (($#)); then
    exec "$program" "$@"
fi
echo "== Running the demo"
if [[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]]; then
    exec "$program" --demo
fi
"$program" --demo --snapshot build/demo-pictures
echo
echo "There is no display here; the pages of the window are in build/demo-pictures:"
ls build/demo-pictures
