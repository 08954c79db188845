#!/usr/bin/env bash
# usage: scripts/venv.sh GROUP
#
# Makes .venv where there is none and installs one dependency group of pyproject.toml into it.
# PYTHON chooses the interpreter that .venv is made with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly group=$1
readonly python=${PYTHON:-python3}

die() {
    echo "venv: error: $*" >&2
    exit 1
}

if [[ ! -x .venv/bin/python ]]; then
    command -v "$python" >/dev/null || die "expected Python 3.10 or newer, found no '$python' (set PYTHON=...)"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        die "expected Python 3.10 or newer, found $("$python" --version) (set PYTHON=...)"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        die "'$python' cannot make virtual environments: install your distribution's python3-venv"
    "$python" -m venv .venv
fi

# Dependency groups came with pip 25.1; distributions' venv still starts with an older one.
.venv/bin/python -c 'import sys, pip; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (25, 1))' ||
    .venv/bin/python -m pip install --quiet --upgrade 'pip>=25.1'

.venv/bin/python -m pip install --quiet --group "$group"
echo "venv: group $group is installed in .venv"
