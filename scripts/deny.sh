#!/usr/bin/env bash
# Checks which crates, licences and registries may enter the binaries, as deny.toml lists them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

deny=$(scripts/cargo-tool.sh cargo-deny 0.20.2) # as in scripts/advisories.sh
"$deny" check bans licenses sources
