#!/usr/bin/env bash
# usage: source scripts/debian-rust.sh    defines the functions below; the caller defines say and die
#
# Debian's rustc-web comes with the source of its standard library, from which cargo can build it
# for targets that rustup cannot fetch. It is unpacked into .cache, not installed.

readonly debian_rust=.cache/rustc-web

has_rust_target() { [[ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]]; }

add_rust_target() {
    command -v rustup >/dev/null || return 1
    say "asking rustup for $1"
    rustup target add "$1" >&2
}

# The compiler and what it needs that this machine does not have. Versions are the package index's.
debian_rust_packages() {
    printf '%s\n' rustc-web rust-web-src
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
        libstd-rust-web-dev | grep '^[a-z0-9]' | sort -u | while read -r package; do
        dpkg-query -W -f '${db:Status-Status}' "${package%%:*}" 2>/dev/null | grep -qx installed || echo "$package"
    done
}

refresh_index() {
    if [[ $(id -u) == 0 ]]; then apt-get update; else sudo -n apt-get update; fi >&2
}

fetch_debian_rust() {
    { command -v apt-get && command -v dpkg; } >/dev/null ||
        die "rustup cannot fetch $1 and this is not Debian: install a Rust with $1 by hand"
    apt-cache show rustc-web >/dev/null 2>&1 || refresh_index || true
    apt-cache show rustc-web >/dev/null 2>&1 ||
        die "rustup cannot fetch $1 and the package index has no rustc-web (is 'apt-get update' possible?)"

    local packages
    mapfile -t packages < <(debian_rust_packages)
    say "unpacking Debian's ${packages[*]} into $debian_rust (nothing is installed)"
    rm -rf "$debian_rust" "$debian_rust.part"
    mkdir -p "$debian_rust.part/packages"
    # A stale index names versions that the mirror has dropped, hence the second try.
    (cd "$debian_rust.part/packages" && apt-get download "${packages[@]}" >&2) || {
        refresh_index || true
        (cd "$debian_rust.part/packages" && apt-get download "${packages[@]}" >&2) || die "apt-get download failed"
    }
    local package
    for package in "$debian_rust.part"/packages/*.deb; do dpkg -x "$package" "$debian_rust.part"; done
    rm -rf "$debian_rust.part/packages"
    mv "$debian_rust.part" "$debian_rust"
}

# Unpacks the compiler for a target where it is missing, and makes cargo use it.
use_debian_rust() {
    [[ -x $debian_rust/usr/bin/rustc ]] || fetch_debian_rust "$1"
    local root libraries
    root=$(pwd)/$debian_rust
    libraries=("$root"/usr/lib/*-linux-gnu*)
    export RUSTC="$root/usr/bin/rustc"
    LD_LIBRARY_PATH=$(IFS=:; echo "${libraries[*]}")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    export RUSTC_BOOTSTRAP=1 # -Zbuild-std on a stable compiler
}
