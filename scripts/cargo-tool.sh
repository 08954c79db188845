#!/usr/bin/env bash
# usage: scripts/cargo-tool.sh NAME VERSION [CARGO-ARGUMENT...]
#
# Prints the path of a program from crates.io, installed in .cache/NAME-VERSION.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly name=$1 version=$2
root=$(pwd)/.cache/$name-$version
if [[ ! -x $root/bin/$name ]]; then
    echo "cargo-tool: compiling $name $version" >&2
    # less optimisation: these programs run for seconds, and would compile for twice as long
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_TARGET_DIR=$root/target \
        cargo install "$name" --locked --quiet --version "$version" --root "$root" "${@:3}" >&2
    rm -rf "$root/target"
fi
echo "$root/bin/$name"
