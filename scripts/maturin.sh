#!/usr/bin/env bash
# usage: scripts/maturin.sh develop|build [ARGUMENT...]
#
# Runs maturin on py/ in release mode.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$(pwd)
readonly root
# A failed allocation becomes a MemoryError by a hook that Rust keeps behind this word, for our crate alone.
export RUSTC_BOOTSTRAP=_native
# The places of panics name source files: not those of the machine that compiled them.
CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"$'\x1f'"--remap-path-prefix=$root=/kinetoscope"$'\x1f'"--cfg=alloc_error_hook"
export CARGO_ENCODED_RUSTFLAGS VIRTUAL_ENV="$root/.venv"
exec .venv/bin/maturin "$1" --release --locked --manifest-path py/Cargo.toml "${@:2}"
