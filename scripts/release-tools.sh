#!/usr/bin/env bash
# usage: scripts/release-tools.sh [GROUP]
#
# Prints the folder of the programs in a dependency group (release), installed in .cache/GROUP.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly group=${1:-release}
readonly environment=.cache/$group
readonly stamp=$environment/.stamp
wanted=$(sed -n "/^$group = \[/,/^\]/p" pyproject.toml)
[[ -n $wanted ]] || {
    echo "release-tools: error: expected a dependency group of pyproject.toml, found $group" >&2
    exit 1
}
if [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
    [[ -x $environment/bin/python ]] || "${PYTHON:-python3}" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --upgrade 'pip>=25.1' # dependency groups came with it
    "$environment/bin/python" -m pip install --quiet --group "$group"
    echo "$wanted" >"$stamp"
fi
echo "$(pwd)/$environment/bin"
