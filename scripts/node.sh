#!/usr/bin/env bash
# Installs the front-end's tools into wasm/node_modules, as the lockfile has them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

{ command -v node && command -v npm; } >/dev/null || {
    echo "node: error: expected Node 20 or newer with npm, found none" >&2
    exit 1
}
node -e 'process.exit(Number.parseInt(process.versions.node) < 20 ? 1 : 0)' || {
    echo "node: error: expected Node 20 or newer, found $(node --version)" >&2
    exit 1
}
npm ci --prefix wasm --no-fund --no-audit
