#!/usr/bin/env bash
# usage: scripts/wheel-pyodide.sh FOLDER
#
# Builds the wheel for Python in a browser (Pyodide) into a folder. Needs no Emscripten: see
# scripts/emscripten/emcc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly target=wasm32-unknown-emscripten
readonly python=3.14 platform=2026_0 # of the Pyodide in wasm/package.json

say() { echo "wheel-pyodide: $*" >&2; }
die() {
    say "error: $*"
    exit 1
}
source scripts/debian-rust.sh
source scripts/rust-env.sh

has_rust_target "$target" || add_rust_target "$target" ||
    die "expected a Rust with $target, found none: 'rustup target add $target' adds it"
CARGO_ENCODED_RUSTFLAGS+=$'\x1f'"-Crelocation-model=pic"
VIRTUAL_ENV=$(pwd)/.venv
export VIRTUAL_ENV PATH="$PWD/scripts/emscripten:$PATH"
export PYO3_NO_PYTHON=1 PYO3_CROSS_PYTHON_VERSION=$python MATURIN_PYEMSCRIPTEN_PLATFORM_VERSION=$platform
rm -rf "$1"
.venv/bin/maturin build --release --locked --manifest-path py/Cargo.toml --target "$target" \
    --interpreter "python$python" --out "$1"
