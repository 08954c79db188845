"""Typed options: each command gets all of its arguments in a NamedTuple, and nothing else sees the namespace."""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._cli.arguments import Command, options_from
from kinetoscope._cli.main import COMMANDS, command_parser, main

pytestmark = pytest.mark.unit

PACKAGE = Path(ks.__file__).parent
READING = ["--et", "et.json", "--max-bytes", "9", "--cache", "folder", "--merge-ranks", "--capture", "c.json"]
WRITING = ["--csv", "-o", "out.csv", "--limit", "3"]
NAMED = ["--iteration", "3", "--phase", "decode", "--state", "steady", "--annotation", "a*", "--module", "Linear_*"]
SELECTION = ["--start-ns", "-1", "--end-ns", "2", *NAMED, "--stream", "7", "--rank", "0"]
RECORDING = ["--wait", "1", "--stack", "--no-et", "--ranks", "0,8", "--slow-step", "2", "--at", "3", "-d", "folder"]
EDITS = ["-o", "out.json", "--rank", "0", "--iteration", "3"]
DECISION = ["--report", "x.md", "--summary", "--summary-file", "y.md", "--allow-unknown"]
GATE = ["--metric", "step", "--baseline", "c.json", "--candidate", "d.json", *DECISION]
LINES: dict[str, tuple[list[str], list[str]]] = {
    "summary": (["t.json"], ["--limit", "3", "--json", "--no-et", *READING]),
    "digest": (
        ["t.json"],
        ["--budget", "3k", "--format", "json", "--rank", "1", "--diff", *READING],
    ),
    "analyze": (["kernels", "t.json"], [*SELECTION, "--short-ns", "5", "--table", "x", *WRITING, *READING]),
    "diff": (
        ["a.json", "b.json"],
        [*SELECTION, "--no-clip", "--launched-inside", "--by", "phase", *WRITING, *GATE, "--fail-over", "3%"],
    ),
    "check": (["t.json"], ["--budget", "b.toml", "--json", "-o", "x.xml", *SELECTION, *DECISION, *READING]),
    "sql": (["select 1", "a.json", "b.json"], ["--rank", "1", *WRITING, *READING]),
    "report": (["t.json"], ["-o", "x.html", "--title", "x", "--max-size", "1MB", "--redact", "--rank", "0", *READING]),
    "view": ([], ["t.json", "-o", "x.html", "--title", "x", "--max-size", "1MB", *READING]),
    "export": (
        ["t.json"],
        [
            "kernels",
            *SELECTION,
            "--short-ns",
            "5",
            "--at",
            "peak",
            "--by",
            "phase",
            "--table",
            "events",
            "--format",
            "csv",
            "--redact",
        ],
    ),
    "chakra": (["t.json"], ["-o", "x.et", "--iteration", "3", "--allow-mismatches", *READING]),
    "doctor": (["t.json"], READING),
    "link": (["--kineto", "t.json", "-o", "x.json"], [*EDITS, "--like-chakra", *READING]),
    "edit": (["t.json", "-o", "x.json"], [*EDITS, "--subtree", "5", "--upgrade", "--anonymise", *READING]),
    "trim": (["t.json", "-o", "x.json"], [*NAMED, "--start-ns", "1", "--end-ns", "2", "--redact"]),
    "mcp": ([], ["traces", "more", "--max-memory", "2GB"]),
    "run": (["train.py"], []),
    "nsys": ([], ["-o", "x", "--", "python", "train.py"]),
    "bench": (
        ["t.json"],
        ["--operator", "aten::mm", "--top", "3", "--event", "3", "--namespaces", "fbgemm", "-o", "x", *READING],
    ),
    "replay": (
        ["t.json"],
        ["--mode", "compute", "--dry-run", "--skip", "aten::mm", "--node-id", "3", "--timeout", "1.5", *WRITING],
    ),
    "replay-comms": (
        ["--trace-path", "traces"],
        [
            "--backend",
            "gloo",
            "--allow-ops",
            "barrier",
            "--timeout",
            "1.5",
            "--max-msg-cnt",
            "3",
            "--auto-shrink",
            *WRITING,
        ],
    ),
}
EXAMPLES = [(name, line) for name, (short, more) in LINES.items() for line in (short, [*short, *more])]
EXAMPLES.append(("run", [*RECORDING, "train.py", "--epochs", "3"]))


def flat(options: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, type and value of each field, those of nested options included."""
    for name, kind in get_type_hints(type(options)).items():
        value = getattr(options, name)
        if hasattr(kind, "_fields"):
            yield from flat(value)
        else:
            yield name, kind, value


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of an annotated type."""
    origin = get_origin(kind)
    if origin is list:
        return isinstance(value, list) and all(fits(item, get_args(kind)[0]) for item in value)
    if origin is tuple:
        return isinstance(value, tuple) and all(map(fits, value, get_args(kind)))
    if origin is not None and origin.__module__ == "collections.abc":
        return isinstance(value, origin)
    if get_args(kind):
        return any(fits(value, member) for member in get_args(kind))
    return kind is Any or (type(value) is kind if kind in {bool, int} else isinstance(value, kind))


def parsed(words: list[str]) -> tuple[Command, argparse.Namespace]:
    namespace = command_parser(words).parse_args(words)
    return namespace.command, namespace


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_fields_are_the_arguments(name: str, line: list[str]) -> None:
    command, namespace = parsed([name, *line])
    fields = list(flat(options_from(command.options, namespace)))
    assert sorted(field for field, _, _ in fields) == sorted(vars(namespace).keys() - {"command"})
    assert [field for field, kind, value in fields if not fits(value, kind)] == []


def test_every_command_has_examples() -> None:
    assert [command.name for command in COMMANDS.commands()] == list(LINES)


@pytest.mark.parametrize("analysis", json.loads(_native.analyses_json()), ids=lambda analysis: analysis["name"])
def test_options_of_an_analysis_are_parameters(analysis: dict[str, Any]) -> None:
    words = {"flag": [], "count": ["3"], "id": ["1"], "number": ["0.5"], "text": ["x"]}
    values = {"flag": True, "count": 3, "id": 1, "number": 0.5, "text": "x"}
    given: dict[str, Any] = {}
    line: list[str] = []
    for option in analysis["options"]:
        choice = (option["choices"] or ["none"])[-1]
        line += [f"--{option['name'].replace('_', '-')}", *words.get(option["kind"], [choice])]
        given[option["name"]] = values.get(option["kind"], choice)
    command, namespace = parsed(["analyze", analysis["name"], "t.json", *line])
    options = options_from(command.options, namespace)
    assert (options.analysis, dict(options.parameters)) == (analysis["name"], given)


def test_an_unknown_choice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(["analyze", "operators", "t.json", "--by", "colour"])
    assert "argument --by: expected one of name, shape, stack, phase, found colour" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sumary t.json", "kinetoscope: error: no such command: sumary: did you mean summary?"),
        ("kernel t.json", "kinetoscope: error: no such command: kernel: did you mean analyze kernels?"),
        ("horoscope", "no such command: horoscope: expected one of summary, digest, analyze"),
        ("analyze kernls t.json", "kinetoscope analyze: error: no such analysis: kernls: did you mean kernels?"),
        ("analyze idle t.json --iteraton=1", "kinetoscope analyze idle: error: no such option: --iteraton: did you"),
        ("run --activ 3 train.py", "no such option: --activ: did you mean --active?"),
        ("replay-comms --trace-path x --device cda", "argument --device: no such value: cda: did you mean cuda?"),
        ("summary --xyzzy t.json", "no such option: --xyzzy\n"),
        ("summary t.json u.json", "kinetoscope summary: error: unexpected arguments: u.json\n"),
        ("run", "the following arguments are required: SCRIPT\n"),
    ],
)
def test_a_mistyped_word_has_a_suggestion(line: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(line.split())
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("analyze critical_path t.json --factor 2", "--factor needs --what-if"),
        ("analyze critical_path t.json --without-last", "--without-last needs --like"),
        ("summary t.json --et e.json --no-et", "expected --et or --no-et, found both"),
    ],
)
def test_an_option_without_its_partner(line: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert capsys.readouterr().err == f"kinetoscope: {expected}\n"


class _Inner(NamedTuple):
    rank: int | None


class _Outer(NamedTuple):
    path: str
    inner: _Inner


def test_nested_options_are_converted() -> None:
    assert options_from(_Outer, argparse.Namespace(path="x", rank=3)) == _Outer("x", _Inner(3))
    with pytest.raises(AttributeError, match="rank"):
        options_from(_Outer, argparse.Namespace(path="x"))


def takers(source: str) -> list[str]:
    """Functions with a parameter that is an `argparse.Namespace`."""
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [
        function.name
        for function in functions
        for argument in ast.walk(function.args)
        if isinstance(argument, ast.arg) and argument.annotation and "Namespace" in ast.unparse(argument.annotation)
    ]


def test_only_the_conversion_takes_a_namespace() -> None:
    found = {(path.name, name) for path in PACKAGE.rglob("*.py") for name in takers(path.read_text(encoding="utf-8"))}
    assert found == {("arguments.py", "options_from")}


@pytest.mark.parametrize(
    "source",
    ["def f(options: argparse.Namespace): ...", "class A:\n    async def f(self, *, a: 'Namespace | None'): ..."],
)
def test_a_function_that_takes_one_is_found(source: str) -> None:
    assert takers(source) == ["f"]
