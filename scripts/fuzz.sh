#!/usr/bin/env bash
# usage: scripts/fuzz.sh [SECONDS [TARGETS]]
#
# Fuzzes every target in core/fuzz for so long (600 s), from the fixtures. Needs a nightly compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-600}
tools=$(pwd)/.cache/fuzz
[ -x "$tools/bin/cargo-fuzz" ] || cargo install cargo-fuzz --locked --quiet --root "$tools"

# Files of at most a few kilobytes: larger ones only slow the search down.
corpus=core/fuzz/corpus
for target in json kineto execution snapshot pickle chakra; do mkdir -p "$corpus/$target"; done
for file in tests/data/{hostile,minimal_cpu,containers}/*; do
    name=$(basename "$(dirname "$file")")-$(basename "$file")
    case $file in
        *.gz) gunzip -c "$file" >"/tmp/$name.text" ;;
        *) cp "$file" "/tmp/$name.text" ;;
    esac
    for target in json kineto execution; do cp "/tmp/$name.text" "$corpus/$target/$name"; done
    cp "$file" "$corpus/kineto/$name.packed"
    rm "/tmp/$name.text"
done
cp tests/data/synthetic_chakra/rank.0.et "$corpus/chakra/"
cp tests/data/synthetic_nsight/nsys_0.sqlite "$corpus/kineto/"
cp tests/data/synthetic_memory/memory_snapshot.pickle "$corpus/pickle/"
head -c 2000 tests/data/memory_cpu/memory_timeline.json >"$corpus/pickle/memory_timeline.json"
gunzip -c tests/data/memory_cpu/memory_timeline.raw.json.gz >"$corpus/pickle/memory_timeline.raw.json"
.venv/bin/python - tests/data/{hostile,minimal_cpu} "$corpus/snapshot" <<'END'
import sys, zlib
from pathlib import Path
import kinetoscope as ks

*folders, corpus = map(Path, sys.argv[1:])
for folder in folders:
    seed = corpus / folder.name
    ks.read(folder / "kineto_trace_0.json.gz").save(seed)
    snapshot = seed.read_bytes()
    texts, at = [], 8
    while at < len(snapshot):
        length, body_length = (int.from_bytes(snapshot[at + part : at + part + 8], "little") for part in (0, 8))
        body = snapshot[at + 20 : at + 20 + body_length]
        text = body if length == body_length else zlib.decompress(body, wbits=-15)
        texts.append(len(text).to_bytes(4, "little") + text)
        at += 20 + body_length
    seed.write_bytes(b"".join(texts))
END

cd core
for target in ${2:-json kineto execution snapshot pickle chakra}; do
    echo "fuzzing $target for $seconds s"
    PATH="$tools/bin:$PATH" cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 \
        -timeout=10 -print_final_stats=1 2>&1 | tail -n 12
done
