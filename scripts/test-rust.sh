#!/usr/bin/env bash
# usage: scripts/test-rust.sh [--docs]
#
# Runs the Rust tests, with cargo-nextest where it is installed; --docs adds the examples in the documentation.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --package kinetoscope --no-tests pass
else
    cargo test --package kinetoscope --all-targets
fi
if [[ ${1:-} == --docs ]]; then cargo test --package kinetoscope --doc; fi
