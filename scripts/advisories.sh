#!/usr/bin/env bash
# Looks up known vulnerabilities of the dependencies in Rust, Python and Node. Needs a network.
#
# Exit code 1: there is one. Exit code 3: none was found, but a list could not be fetched.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

deny=$(scripts/cargo-tool.sh cargo-deny 0.20.2) # as in scripts/deny.sh
tools=$(scripts/release-tools.sh)
"${PYTHON:-python3}" scripts/advisories.py "$deny" "$tools/pip-audit"
