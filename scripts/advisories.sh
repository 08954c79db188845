#!/usr/bin/env bash
# Looks up known vulnerabilities of the dependencies in Rust, Python and Node. Needs a network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly deny=.cache/cargo-deny version=0.20.2

status=0
[[ -x $deny/bin/cargo-deny ]] || cargo install cargo-deny --locked --quiet --version "$version" --root "$deny"
"$deny/bin/cargo-deny" check advisories || status=1
"$deny/bin/cargo-deny" --manifest-path core/fuzz/Cargo.toml check advisories || status=1

tools=$(scripts/release-tools.sh)
"$tools/pip-audit" --progress-spinner off py || status=1

npm audit --prefix wasm || status=1
exit "$status"
