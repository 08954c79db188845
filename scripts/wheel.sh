#!/usr/bin/env bash
# Builds the wheel into dist/ and shows that it works in an empty environment, with neither Rust nor Node in reach.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rm -rf dist
scripts/maturin.sh build --out dist
.venv/bin/python scripts/wheel_check.py dist
