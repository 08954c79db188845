"""Generates tests/data/hostile: a trace whose names try to become code in whatever shows them.

python tests/record/hostile.py
"""

from __future__ import annotations

from pathlib import Path

from synthetic import Recorder

FOLDER = Path(__file__).resolve().parents[1] / "data/hostile"
NAMES = (
    "</script><script>window.hostile = 1; alert(1)</script>",
    '<img src=x onerror="window.hostile = 1">',
    "\"><svg onload='window.hostile = 1'>",
    "<!-- <script> --><style>*{display:none}</style>",
    "&lt;b&gt; &amp;amp; &#60;i&#62;",
    "quote\" apostrophe' backslash\\ slash/ backtick` ${window.hostile = 1} {{7*7}}",
    "tab\tnewline\nreturn\rnull\x00bell\x07escape\x1b[31mred\x1b[0m",
    "line\u2028paragraph\u2029right-to-left\u202eoverride\u200bzero-width\ufeffmark",
    "\U0001f525 \u65e5\u672c\u8a9e \u0627\u0644\u0639\u0631\u0628\u064a\u0629 e\u0301",
    "=cmd|'/c calc'!A1",
    "javascript:window.hostile = 1//",
    "",
    " ",
    "x" * 5000,
)  # fmt: skip


def main() -> None:
    recorder = Recorder()
    recorder.process_name, recorder.device["name"] = NAMES[0], NAMES[1]
    with recorder.operator("ProfilerStep#0<script>window.hostile = 1</script>", category="user_annotation"):
        for name in NAMES:
            with recorder.operator(name, [[2, 3]], args={name: name, "Call stack": name}):
                recorder.launch(
                    "cudaLaunchKernel", "kernel", f"kernel {name}", 7, 9_000, args={"grid": [1, 1, 1], name: [name]}
                )
        recorder.synchronize()
    recorder.finish(FOLDER, NAMES[0])


if __name__ == "__main__":
    main()
