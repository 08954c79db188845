#!/usr/bin/env bash
# usage: scripts/wheel.sh [TARGET...]
#
# Builds the wheel of this machine into dist/, and shows that it works in an empty environment, with
# neither Rust nor Node in reach. With targets, such as x86_64-unknown-linux-gnu or
# aarch64-unknown-linux-musl, builds a wheel for each, which runs with old versions of the C library.
# Tries those that can run here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "wheel: $*" >&2; }
die() {
    say "error: $*"
    exit 1
}
source scripts/debian-rust.sh

# Runs in a subshell, because Debian's compiler must not stay for the next target.
build_for() (
    source scripts/rust-env.sh
    tools=$(scripts/release-tools.sh zig)
    if ! has_rust_target "$1" && ! add_rust_target "$1"; then
        use_debian_rust "$1"
        export CARGO_UNSTABLE_BUILD_STD=std,panic_unwind
    fi
    tag=manylinux_2_28 # the oldest with a maintained image, as in .github/workflows/wheels.yml
    [[ $1 != *-musl ]] || tag=musllinux_1_2
    # zig is found through the python on the path
    PATH=$tools:$PATH maturin build --release --locked --manifest-path py/Cargo.toml --out "$folder" \
        --zig --target "$1" --compatibility "$tag"
)

try() {
    if [[ $1 == "$(uname -m)-unknown-linux-gnu" ]]; then
        .venv/bin/python scripts/wheel_check.py "$folder"
    elif [[ $1 == "$(uname -m)-unknown-linux-musl" ]] && docker info >/dev/null 2>&1; then
        scripts/wheel-musl.sh "$folder"
    else
        .venv/bin/python scripts/wheel_check.py "$folder" --no-run
    fi
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p dist
if [[ $# -eq 0 ]]; then
    scripts/maturin.sh build --out "$folder"
    .venv/bin/python scripts/wheel_check.py "$folder"
    rm -f dist/*.whl
    mv "$folder"/*.whl dist
fi
for target in "$@"; do
    build_for "$target"
    try "$target"
    mv "$folder"/*.whl dist
done
