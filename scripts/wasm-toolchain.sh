#!/usr/bin/env bash
# usage: scripts/wasm-toolchain.sh [CARGO-ARGUMENT...]
#
# Finds or fetches a Rust that compiles to WebAssembly, says which, and runs cargo with it.
# KINETOSCOPE_WASM_TOOLCHAIN=rustup|debian chooses; otherwise the first that can be had is taken.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly target=wasm32-unknown-unknown
readonly way=${KINETOSCOPE_WASM_TOOLCHAIN:-auto}

say() { echo "wasm-toolchain: $*" >&2; }
die() {
    say "error: $*"
    exit 1
}
source scripts/debian-rust.sh

use_debian() {
    local linker
    linker=$(find "$(rustc --print sysroot)/lib/rustlib" -name rust-lld -print -quit)
    [[ -n $linker ]] || linker=$(command -v wasm-ld) || die "no linker: neither rustup's rust-lld nor wasm-ld was found"

    use_debian_rust "$target"
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker
    say "using Debian's rustc-web, $("$RUSTC" --version)"
}

has_std_source() { [[ -f "$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]]; }

add_std_source() {
    command -v rustup >/dev/null || return 1
    say "asking rustup for the source of the standard library"
    rustup component add rust-src >&2
}

use_rustup() {
    has_std_source || return 1
    say "using $(rustc --version)"
}

case $way in
rustup) use_rustup || { add_std_source && use_rustup; } || die "rustup cannot fetch rust-src" ;;
debian) use_debian ;;
auto)
    if ! use_rustup; then
        if [[ ! -x $debian_rust/usr/bin/rustc ]] && add_std_source; then
            use_rustup
        else
            use_debian
        fi
    fi
    ;;
*) die "KINETOSCOPE_WASM_TOOLCHAIN: expected rustup or debian, found $way" ;;
esac

[[ $# -gt 0 ]] || exit 0
# Unstable options of a stable compiler make the module a fourteenth smaller. Nobody reads in a browser where code
# panicked: the standard library is built without those texts, and without the code that writes them.
export RUSTC_BOOTSTRAP=1
root=$(pwd)
cargo_options=("-Zbuild-std=std")
flags=(
    -Zlocation-detail=none
    -Zunstable-options
    -Ctarget-feature=+simd128 # in every browser since 2023
    -Cllvm-args=-inline-threshold=5 # a seventh smaller; reading takes a tenth longer
    -Cllvm-args=-inlinehint-threshold=20 # a fifteenth smaller; browsers inline what runs often
    # The places of panics name source files: not those of the machine that compiled them.
    "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    "--remap-path-prefix=$root=/kinetoscope"
    "--remap-path-prefix=$("${RUSTC:-rustc}" --print sysroot)=/rust"
)
if "${RUSTC:-rustc}" -Zunstable-options -Cpanic=immediate-abort --print cfg >/dev/null 2>&1; then
    flags+=(-Cpanic=immediate-abort)
else # before Rust 1.92
    cargo_options=("-Zbuild-std=std,panic_abort" "-Zbuild-std-features=panic_immediate_abort")
fi
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS
export CARGO_TARGET_DIR=target/wasm # a folder of its own, so that it never waits for the host build's lock
exec cargo "$@" --target "$target" "${cargo_options[@]}"
