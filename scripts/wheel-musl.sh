#!/usr/bin/env bash
# Tries the wheel in dist/ on Alpine Linux, whose C library is musl. Needs docker.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

docker run --rm --volume "$PWD:/mount:ro" --workdir /mount python:3.13-alpine \
    python scripts/wheel_check.py dist --folder "$PWD" --folder "$HOME"
