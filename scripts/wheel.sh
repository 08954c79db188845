#!/usr/bin/env bash
# Builds the wheel into dist/ and shows that it works in an empty environment, with neither Rust nor Node in reach.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$(pwd)
readonly root trace=$root/tests/data/transformer_cpu/kineto_trace_0.json.gz bin=$root/target/wheel-test/bin

rm -rf dist target/wheel-test
scripts/maturin.sh build --out dist
wheel=$(echo "$root"/dist/kinetoscope-*-abi3-*.whl)
.venv/bin/python scripts/wheel_paths.py "$wheel" "$root" "$HOME"

.venv/bin/python -m venv target/wheel-test
"$bin/python" -m pip install --quiet "$wheel"
# An empty PATH but for the environment, and a folder outside the repository: nothing of it can be picked up.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
env -i PATH="$bin" HOME="$folder" "$bin/python" -I "$root/scripts/wheel_smoke.py" "$trace"
env -i PATH="$bin" HOME="$folder" "$bin/kinetoscope" summary "$trace" >/dev/null
echo "wheel: $(basename "$wheel"), $(stat -c %s "$wheel") bytes, works in an empty environment"
