#!/usr/bin/env bash
# Prints the path of a Python that has Holistic Trace Analysis, which the benchmarks compare with; made in .cache/hta.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly environment=.cache/hta
readonly stamp=$environment/.stamp
wanted=$(grep '^hta = ' pyproject.toml)
if [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
    [[ -x $environment/bin/python ]] || "${PYTHON:-python3}" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --upgrade 'pip>=25.1' # dependency groups came with it
    "$environment/bin/python" -m pip install --quiet --group hta
    echo "$wanted" >"$stamp"
fi
echo "$environment/bin/python"
