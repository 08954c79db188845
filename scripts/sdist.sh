#!/usr/bin/env bash
# Builds the source distribution into dist/, and a wheel from it where Node is out of reach: the
# front-end travels as it was built (make wasm). Tries that wheel, and keeps the source alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -f py/python/kinetoscope/_static/widget.js ]] || {
    echo "sdist: error: expected the front-end in py/python/kinetoscope/_static, found none (make wasm)" >&2
    exit 1
}
scripts/venv.sh base
rm -f dist/*.tar.gz
.venv/bin/maturin sdist --manifest-path py/Cargo.toml --out dist

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
for tool in node npm npx; do
    ln -s "$(command -v false)" "$folder/bin/$tool"
done
PATH="$folder/bin:$PATH" .venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir "$folder/wheel" dist/*.tar.gz
.venv/bin/python scripts/wheel_check.py "$folder/wheel" --any-path
