#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing (Debian 12), builds, and runs every test. Words given to this script go to
# ctest: ./tests/run.sh -R planner
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source app/setup.sh

install_packages
configure_and_build
echo "== Testing"
ctest --preset release --parallel "$(nproc)" "$@"
