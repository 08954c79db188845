#!/usr/bin/env bash
# usage: scripts/wasm-toolchain.sh [CARGO-ARGUMENT...]
#
# Finds or fetches a Rust that compiles to WebAssembly, says which, and runs cargo with it.
# KINETOSCOPE_WASM_TOOLCHAIN=rustup|debian chooses; otherwise the first that can be had is taken.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly target=wasm32-unknown-unknown
readonly debian=.cache/rustc-web
readonly way=${KINETOSCOPE_WASM_TOOLCHAIN:-auto}

say() { echo "wasm-toolchain: $*" >&2; }
die() {
    say "error: $*"
    exit 1
}

has_target() { [[ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]]; }

add_target() {
    command -v rustup >/dev/null || return 1
    say "asking rustup for $target"
    rustup target add "$target" >&2
}

# The compiler and what it needs that this machine does not have. Versions are the package index's.
debian_packages() {
    printf '%s\n' rustc-web rust-web-src
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
        libstd-rust-web-dev | grep '^[a-z0-9]' | sort -u | while read -r package; do
        dpkg-query -W -f '${db:Status-Status}' "${package%%:*}" 2>/dev/null | grep -qx installed || echo "$package"
    done
}

refresh_index() {
    if [[ $(id -u) == 0 ]]; then apt-get update; else sudo -n apt-get update; fi >&2
}

fetch_debian() {
    { command -v apt-get && command -v dpkg; } >/dev/null ||
        die "rustup cannot fetch $target and this is not Debian: install a Rust with $target by hand"
    apt-cache show rustc-web >/dev/null 2>&1 || refresh_index || true
    apt-cache show rustc-web >/dev/null 2>&1 ||
        die "rustup cannot fetch $target and the package index has no rustc-web (is 'apt-get update' possible?)"

    local packages
    mapfile -t packages < <(debian_packages)
    say "unpacking Debian's ${packages[*]} into $debian (nothing is installed)"
    rm -rf "$debian" "$debian.part"
    mkdir -p "$debian.part/packages"
    # A stale index names versions that the mirror has dropped, hence the second try.
    (cd "$debian.part/packages" && apt-get download "${packages[@]}" >&2) || {
        refresh_index || true
        (cd "$debian.part/packages" && apt-get download "${packages[@]}" >&2) || die "apt-get download failed"
    }
    local package
    for package in "$debian.part"/packages/*.deb; do dpkg -x "$package" "$debian.part"; done
    rm -rf "$debian.part/packages"
    mv "$debian.part" "$debian"
}

use_debian() {
    local root linker libraries
    root=$(pwd)/$debian
    libraries=("$root"/usr/lib/*-linux-gnu*)
    linker=$(find "$(rustc --print sysroot)/lib/rustlib" -name rust-lld -print -quit)
    [[ -n $linker ]] || linker=$(command -v wasm-ld) || die "no linker: neither rustup's rust-lld nor wasm-ld was found"

    export RUSTC="$root/usr/bin/rustc"
    LD_LIBRARY_PATH=$(IFS=:; echo "${libraries[*]}")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    export RUSTC_BOOTSTRAP=1 # -Zbuild-std on a stable compiler
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker
    cargo_options=("-Zbuild-std=std,panic_abort")
    say "using Debian's rustc-web, $("$RUSTC" --version), with its std built from source"
}

use_rustup() {
    has_target || return 1
    say "using $target of $(rustc --version)"
}

cargo_options=()
case $way in
rustup) use_rustup || { add_target && use_rustup; } || die "rustup cannot fetch $target" ;;
debian)
    [[ -x $debian/usr/bin/rustc ]] || fetch_debian
    use_debian
    ;;
auto)
    if ! use_rustup; then
        if [[ -x $debian/usr/bin/rustc ]]; then
            use_debian
        elif add_target; then
            use_rustup
        else
            fetch_debian
            use_debian
        fi
    fi
    ;;
*) die "KINETOSCOPE_WASM_TOOLCHAIN: expected rustup or debian, found $way" ;;
esac

[[ $# -gt 0 ]] || exit 0
root=$(pwd)
flags=(
    -Ctarget-feature=+simd128 # in every browser since 2023
    -Cllvm-args=-inline-threshold=15 # a seventh smaller; reading takes a tenth longer
    # The places of panics name source files: not those of the machine that compiled them.
    "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    "--remap-path-prefix=$root=/kinetoscope"
)
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS
export CARGO_TARGET_DIR=target/wasm # a folder of its own, so that it never waits for the host build's lock
exec cargo "$@" --target "$target" "${cargo_options[@]}"
