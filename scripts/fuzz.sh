#!/usr/bin/env bash
# usage: scripts/fuzz.sh [SECONDS [TARGETS]]
#
# Fuzzes every target in core/fuzz for so long (600 s), from parts of the fixtures. Needs a nightly
# compiler, and the package in .venv. Prints the first lines of each crash; fails if there was one.
# A CI runs `scripts/fuzz.sh 1800` each night.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-600}
targets=(json kineto execution scene analyze snapshot chakra pickle metrics archive database perfetto xspace)
[ $# -lt 2 ] || read -ra targets <<<"$2"
tools=$(pwd)/.cache/fuzz
[ -x "$tools/bin/cargo-fuzz" ] || cargo install cargo-fuzz --locked --quiet --root "$tools"
export PATH="$tools/bin:$PATH" RUST_BACKTRACE=0

PYTHONPATH=tests .venv/bin/python tests/support/fuzz_seeds.py core/fuzz/corpus
status=0
cd core
for target in "${targets[@]}"; do
    echo "fuzzing $target for $seconds s"
    # The core forbids unsafe code, so that a sanitizer would only slow it down.
    log=$(mktemp)
    cargo +nightly fuzz run --sanitizer none "$target" -- -max_total_time="$seconds" -max_len=65536 \
        -dict=fuzz/trace.dict -rss_limit_mb=2560 -timeout=10 -print_final_stats=1 >"$log" 2>&1 || status=1
    grep -A 4 'panicked at\|ERROR: libFuzzer\|could not compile' "$log" || true
    tail -n 6 "$log"
    rm "$log"
done
exit "$status"
