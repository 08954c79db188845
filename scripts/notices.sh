#!/usr/bin/env bash
# usage: scripts/notices.sh [--check]
#
# Writes the notices, the bill of materials and the viewer's list of the packages in a wheel; with
# --check, fails if one of these files is out of date.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# 0.9 is the first that reads each licence of an expression such as "Apache-2.0 AND MIT"
about=$(scripts/cargo-tool.sh cargo-about 0.9.3 --features cli)
readonly about
[[ -d wasm/node_modules ]] || scripts/node.sh
cargo fetch --locked --quiet # cargo-about reads licences where crates are unpacked
"$about" generate --workspace --frozen --fail --format json --output-file .cache/about.json
"${PYTHON:-python3}" scripts/notices.py .cache/about.json "$@"
