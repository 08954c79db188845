#!/usr/bin/env bash
# usage: scripts/test-rust.sh [--all]
#
# Runs the Rust tests, with cargo-nextest where it is installed. --all adds the examples in the documentation and, where
# cargo-deny is installed, what may enter the binaries (its advisories need a network, and are left to whoever asks for them).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --package kinetoscope --no-tests pass
else
    cargo test --package kinetoscope --all-targets
fi
[[ ${1:-} == --all ]] || exit 0
cargo test --package kinetoscope --doc
if cargo deny --version >/dev/null 2>&1; then
    cargo deny check bans licenses sources
else
    echo "test-rust: cargo-deny is not installed, so licences were not checked (make deny)" >&2
fi
