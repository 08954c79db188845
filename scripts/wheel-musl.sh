#!/usr/bin/env bash
# usage: scripts/wheel-musl.sh [FOLDER]
#
# Tries the wheel in a folder (dist) on Alpine Linux, whose C library is musl. Needs docker.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(cd "${1:-dist}" && pwd)
docker run --rm --volume "$PWD:/mount:ro" --volume "$folder:/wheel:ro" --workdir /mount python:3.13-alpine \
    python scripts/wheel_check.py /wheel --folder "$PWD" --folder "$HOME"
