#!/usr/bin/env bash
# usage: scripts/maturin.sh develop|build [ARGUMENT...]
#
# Runs maturin on py/ in release mode.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/rust-env.sh
VIRTUAL_ENV=$(pwd)/.venv
export VIRTUAL_ENV
exec .venv/bin/maturin "$1" --release --locked --manifest-path py/Cargo.toml "${@:2}"
