#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing (Debian 12), builds, and runs every test, the agents for Arm under emulation
# included. Words given to this script go to ctest: ./tests/run.sh -R planner
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source app/setup.sh

debian_packages+=(g++-arm-linux-gnueabihf g++-aarch64-linux-gnu qemu-user-static)
install_packages
cmake_flags+=(-DSHARDSCOPE_CROSS_TESTS=ON)
configure_and_build
echo "== Testing"
ctest --preset release --parallel "$(nproc)" "$@"
