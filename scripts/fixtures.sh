#!/usr/bin/env bash
# Records tests/data anew: runs each command that tests/data/README.md says a fixture was made with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="$(pwd)/.venv/bin:$PATH"

mapfile -t commands < <(grep -oE '`(python|torchrun) [^`]*tests/record/[^`]*`' tests/data/README.md | tr -d '`' | sort -u)
[[ ${#commands[@]} -gt 0 ]] || {
    echo "fixtures: error: expected commands in tests/data/README.md, found none" >&2
    exit 1
}
for command in "${commands[@]}"; do
    echo "fixtures: $command"
    read -ra words <<<"$command"
    "${words[@]}"
done
