#!/usr/bin/env bash
# Prints the folder of the programs in the dependency group `release`, installed in .cache/release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly environment=.cache/release
readonly stamp=$environment/.stamp
wanted=$(sed -n '/^release = \[/,/^\]/p' pyproject.toml)
if [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
    [[ -x $environment/bin/python ]] || "${PYTHON:-python3}" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --upgrade 'pip>=25.1' # dependency groups came with it
    "$environment/bin/python" -m pip install --quiet --group release
    echo "$wanted" >"$stamp"
fi
echo "$environment/bin"
