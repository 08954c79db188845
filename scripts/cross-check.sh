#!/usr/bin/env bash
# usage: scripts/cross-check.sh [TARGET...]
#
# Type-checks the core and the extension module for systems other than this one. The standard
# library is rustup's, or built from the source that Debian has. zig compiles SQLite.
#
# Exit code 1: a target has an error. Exit code 3: no error, but a target could not be checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly all=(x86_64-pc-windows-gnu aarch64-apple-darwin aarch64-unknown-linux-gnu x86_64-unknown-linux-musl)

say() { echo "cross-check: $*" >&2; }
die() {
    say "error: $*"
    exit 3
}
source scripts/debian-rust.sh

# Runs in a subshell, because Debian's compiler must not stay for the next target.
check_target() (
    options=(check --locked --quiet --package kinetoscope --package kinetoscope-py --target "$1")
    # optimised dependencies would only make the check slower
    options+=(--config 'profile.dev.package."*".opt-level=0' --config 'profile.dev.opt-level=0')
    if has_rust_target "$1" || add_rust_target "$1" >&2; then
        how="standard library of rustup"
    else
        use_debian_rust "$1"
        options+=(-Zbuild-std=std,panic_unwind)
        how="standard library built from source"
    fi
    [[ $1 != *-musl ]] || export RUSTFLAGS=-Ctarget-feature=-crt-static # extension modules are shared libraries
    PATH=$tools:$PATH CARGO_TARGET_DIR=target/cross PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1 \
        cargo-zigbuild "${options[@]}" >&2 || exit 1
    echo "$how"
)

tools=$(scripts/release-tools.sh zig)
status=0
results=()
for target in "${@:-${all[@]}}"; do
    say "$target"
    code=0
    how=$(check_target "$target") || code=$?
    case $code in
    0) results+=("passed   $target: $how") ;;
    3)
        results+=("skipped  $target: no standard library")
        [[ $status -ne 0 ]] || status=3
        ;;
    *)
        results+=("failed   $target")
        status=1
        ;;
    esac
done
printf '%s\n' "${results[@]}"
[[ $status -ne 3 ]] || say "checked what could be had: $(grep -c ^passed < <(printf '%s\n' "${results[@]}")) of ${#results[@]} targets"
exit "$status"
