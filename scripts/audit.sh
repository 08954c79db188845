#!/usr/bin/env bash
# usage: scripts/audit.sh [FOLDER]
#
# Audits the wheels and source distributions in a folder (dist), as they would be published.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools=$(scripts/release-tools.sh audit)
"$tools/python" scripts/audit.py "${1:-dist}"
