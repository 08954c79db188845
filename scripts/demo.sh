#!/usr/bin/env bash
# Reads a trace pair that the repository ships, prints its summary and writes demo/report.html.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly trace=${TRACE:-tests/data/transformer_cpu/kineto_trace_0.json.gz}
[[ -f $trace ]] || {
    echo "demo: error: expected a trace at $trace, found no such file" >&2
    exit 1
}
mkdir -p demo
.venv/bin/kinetoscope summary "$trace"
.venv/bin/kinetoscope report "$trace" -o demo/report.html
echo "demo: open demo/report.html in a browser"
