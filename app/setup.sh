# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What app/run.sh and tests/run.sh share; sourced by both. The caller stands in the project's root.

# All that is needed on Debian 12, beside what every Debian has.
debian_packages=(
    build-essential cmake ninja-build pkg-config
    nlohmann-json3-dev libhwy-dev liburing-dev
    qt6-base-dev qt6-svg-dev libqt6sql6-sqlite libqcustomplot-dev
    libsndfile1-dev libsoxr-dev
    libssh2-1-dev openssh-client openssh-server libssh-dev
)

# Installs what is missing, and asks apt for nothing when nothing is.
install_packages() {
    command -v dpkg-query >/dev/null || {
        echo "This is no Debian: make sure that the likes of ${debian_packages[*]} are installed." >&2
        return 0
    }
    local missing=() package as_root=()
    for package in "${debian_packages[@]}"; do
        [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] ||
            missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    echo "== Installing ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || {
            echo "Run this as root first: apt-get install ${missing[*]}" >&2
            return 1
        }
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update --quiet
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}

# What configure_and_build gives to CMake beside the preset.
cmake_flags=()
command -v ccache >/dev/null && cmake_flags+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

# configure_and_build [target...]: the release preset, into build/release; everything by default.
configure_and_build() {
    local targets=()
    (($#)) && targets=(--target "$@")
    echo "== Configuring"
    cmake --preset release "${cmake_flags[@]}"
    echo "== Building"
    cmake --build --preset release --parallel "$(nproc)" "${targets[@]}"
}
