#!/usr/bin/env bash
# usage: scripts/maturin.sh develop|build [ARGUMENT...]
#
# Runs maturin on py/ in release mode.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# The places of panics name source files: not those of the machine that compiled them.
export RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$(pwd)=/kinetoscope"
VIRTUAL_ENV=$(pwd)/.venv
export VIRTUAL_ENV
exec .venv/bin/maturin "$1" --release --locked --manifest-path py/Cargo.toml "${@:2}"
