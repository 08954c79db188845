#!/usr/bin/env bash
# usage: scripts/torch-matrix.sh [VERSION ...]
#
# Runs the recording tests with one release of torch per minor version, or with these releases.
# Each gets an environment in .cache/torch-matrix, without CUDA packages: scripts/cuda_stubs.py
# makes stubs of the libraries. An environment has 2 GB, so it is removed after its tests unless
# KEEP is set. Prints the table of docs/torch.md, and the failed tests. Needs the extension module
# (make .venv/.stamp-native) and Python 3.10 or 3.11, which all these releases support.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly releases=(2.4.1 2.5.1 2.6.0 2.7.1 2.8.0 2.9.1 2.10.0 2.11.0 2.12.1 2.13.0 2.14.1 2.15.0)
readonly cache=.cache/torch-matrix
readonly python=${PYTHON:-python3}
# torch requires these by itself; --no-deps leaves them out together with the CUDA packages.
readonly needs=(filelock typing-extensions sympy networkx jinja2 fsspec 'numpy<3')
readonly tests=(pytest==9.2.0 pytest-xdist==3.8.0 psutil==7.2.2 hypothesis==6.168.5 pyarrow==26.0.1 pandas==2.3.3 orjson==3.13.0)

prepare() {
    local release=$1 home=$2 libraries
    [[ -e $home/ready ]] && return
    rm -rf "$home"
    "$python" -m venv "$home"
    "$home/bin/python" -m pip install --quiet --no-deps "torch==$release"
    "$home/bin/python" -m pip install --quiet "${needs[@]}" "${tests[@]}" 2>/dev/null
    libraries=$(echo "$home"/lib/python3.*/site-packages/torch/lib)
    "$home/bin/python" scripts/cuda_stubs.py "$libraries" "$home/stubs"
    touch "$home/ready"
}

record() {
    LD_LIBRARY_PATH="$PWD/$2/stubs" PYTHONPATH=py/python "$2/bin/python" -m pytest tests/py/profile \
        -m "not alone" -p no:cacheprovider -q -n 2 >"$2/log" 2>&1 || true
    echo "| $1 | $(tail -1 "$2/log" | tr -d '=' | sed 's/ in .*//; s/^ *//') |"
    grep -E '^(FAILED|ERROR) ' "$2/log" >&2 || true
}

echo "| torch | recording tests |"
echo "| --- | --- |"
for release in "${@:-${releases[@]}}"; do
    prepare "$release" "$cache/$release"
    record "$release" "$cache/$release"
    [[ -n ${KEEP:-} ]] || rm -rf "${cache:?}/$release"
done
