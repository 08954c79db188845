#!/usr/bin/env bash
# usage: source scripts/rust-env.sh    exports the compiler settings of the extension module
#        scripts/rust-env.sh           prints them as NAME=VALUE, for the environment file of a CI

# Names a folder as the compiler does: on Windows with a drive and backslashes.
native_path() {
    if command -v cygpath >/dev/null; then cygpath --windows "$1"; else echo "$1"; fi
}

kinetoscope_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# A failed allocation becomes a MemoryError by a hook that Rust keeps behind this word, for our crate alone.
RUSTC_BOOTSTRAP=_native
# Panics name source files. These paths must not name the machine that compiled them.
CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$(native_path "${CARGO_HOME:-$HOME/.cargo}")=/cargo"
CARGO_ENCODED_RUSTFLAGS+=$'\x1f'"--remap-path-prefix=$(native_path "$kinetoscope_root")=/kinetoscope"
CARGO_ENCODED_RUSTFLAGS+=$'\x1f'"--cfg=alloc_error_hook"
export RUSTC_BOOTSTRAP CARGO_ENCODED_RUSTFLAGS
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    echo "RUSTC_BOOTSTRAP=$RUSTC_BOOTSTRAP"
    echo "CARGO_ENCODED_RUSTFLAGS=$CARGO_ENCODED_RUSTFLAGS"
fi
