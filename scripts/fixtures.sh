#!/usr/bin/env bash
# Records tests/data anew: runs each command that tests/data/README.md says a fixture was made with. Those of
# tests/record/cuda_* only where there is a GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="$(pwd)/.venv/bin:$PATH"

mapfile -t commands < <(grep -oE '`(python|torchrun) [^`]*tests/record/[^`]*`' tests/data/README.md | tr -d '`' | sort -u)
[[ ${#commands[@]} -gt 0 ]] || {
    echo "fixtures: error: expected commands in tests/data/README.md, found none" >&2
    exit 1
}
has_gpu=$(python -c 'import torch; print(torch.cuda.is_available())')
for command in "${commands[@]}"; do
    [[ $has_gpu == True || $command != *tests/record/cuda_* ]] || {
        echo "fixtures: skipped, no GPU: $command"
        continue
    }
    echo "fixtures: $command"
    read -ra words <<<"$command"
    "${words[@]}"
done
