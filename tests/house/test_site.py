"""The site: each rule has a picture, docstrings and links become Markdown of pages, commands are listed."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator

import command_line
import docstrings
import kinetoscope as ks
import links
import patterns
import pytest
import reference
from kinetoscope._cli.arguments import Command, CommandGroup
from kinetoscope._cli.main import COMMANDS
from rules import tree

pytestmark = pytest.mark.unit

DATA = tree.ROOT / "tests/data"
REPOSITORY = "https://forge.example/kinetoscope"
OF_RANKS = {"straggler", "imbalanced_ranks"}

Examples = dict[str, tuple[str, str]]
Patterns = dict[str, patterns.Pattern]


@pytest.fixture(scope="module")
def rules() -> list[str]:
    trace = ks.read(DATA / "transformer_cuda/kineto_trace_0.json.gz")
    return [name for (name,) in trace.findings().tables["finding_rules"].select("finding").rows()]


def test_tags_lead_to_files_of_the_site() -> None:
    # Pages lie side by side, and MkDocs leaves tags as they are.
    pages = [name for name in tree.under("docs", ".md") if name.count("/") == 1]
    targets = [target for name in pages for target in re.findall(r'(?:src|href)="([^"]+)"', tree.text(name))]
    assert {target.split("/")[0] for target in targets} == {"examples", "lite"}


@pytest.fixture(scope="module")
def synthetic() -> Patterns:
    return {pattern.rule: pattern for pattern in patterns.examples()}


@pytest.fixture(scope="module")
def recorded() -> Examples:
    return dict(reference.recorded_examples(DATA))


def test_each_rule_has_an_example(rules: list[str], recorded: Examples, synthetic: Patterns) -> None:
    assert not recorded.keys() & synthetic.keys(), "a rule with a recorded trace needs no synthetic one"
    assert {*recorded, *synthetic} == set(rules)


def test_a_recorded_example_names_a_trace_with_the_finding(recorded: Examples) -> None:
    for rule, (caption, picture) in recorded.items():
        trace = ks.read(tree.ROOT / caption.split("`")[1])
        assert (rule,) in trace.findings().select("finding").rows()
        assert picture.startswith("<svg")


def test_a_synthetic_example_has_the_finding(synthetic: Patterns) -> None:
    for rule, pattern in synthetic.items():
        rows = pattern.shown.findings().select("finding", "cost_ns", "evidence").rows()
        found = [row[1:] for row in rows if row[0] == rule]
        assert found, rule
        cost_ns, evidence = found[0]
        assert cost_ns > 0 or rule == "memory_leak", f"{rule} costs no time"
        assert json.loads(evidence) or rule == "straggler", f"{rule} has no evidence"
        assert isinstance(pattern.shown, ks.TraceSet) == (rule in OF_RANKS), rule


def test_the_page_of_findings_has_a_picture_for_each_rule(rules: list[str]) -> None:
    sections = dict(zip(rules, reference._findings(DATA).split("\n## ")[1:], strict=True))
    assert [name for name, text in sections.items() if not text.startswith(name) or text.count("<svg") != 1] == []
    assert "\n\n*From `tests/data/" in sections["long_idle"]
    assert "\n\n*Synthetic. Rank 2 loads" in sections["straggler"]


@pytest.mark.parametrize(
    ("docstring", "page"),
    [
        ("Reads.\n\n::\n\n    a = 1\n\n    b(a)\n\nMore.", "Reads.\n\n```python\na = 1\n\nb(a)\n```\n\nMore."),
        ("Loop::\n\n    for a in b:\n        c(a)\n", "Loop:\n\n```python\nfor a in b:\n    c(a)\n```\n\n"),
        ("Loop ::\n\n    a\n", "Loop\n\n```python\na\n```\n\n"),
        ("docs/verdict.md defines it.", "[docs/verdict.md](../verdict.md) defines it."),
        ("Raises:\n    KeyError: no such rule.", "Raises:\n    KeyError: no such rule."),
    ],
)
def test_docstrings_become_markdown(docstring: str, page: str) -> None:
    assert docstrings.markdown(docstring) == page


@pytest.mark.parametrize(
    ("page", "link", "target"),
    [
        ("start.md", "open.md", "open.md"),
        ("howto/memory.md", "../torch.md#options", "../torch.md#options"),
        ("start.md", "../CONTRIBUTING.md", "internals/contributing.md"),
        ("howto/memory.md", "../../README.md", "../index.md"),
        ("howto/memory.md", "../../notebooks/quickstart.ipynb", "../tutorials/quickstart.md"),
        ("internals/architecture.md", "docs/decisions/README.md", "../decisions/README.md"),
        ("internals/architecture.md", "CHANGELOG.md#010", "changelog.md#010"),
        ("tutorials/quickstart.md", "../docs/verdict.md", "../verdict.md"),
        ("tutorials/quickstart.md", "replay.ipynb", "replay.md"),
        ("howto/share.md", "../../core/src/lib.rs#L1", f"{REPOSITORY}/blob/main/core/src/lib.rs#L1"),
        ("internals/contributing.md", "tests/house", f"{REPOSITORY}/blob/main/tests/house"),
        ("start.md", "#record", "#record"),
        ("start.md", "https://pytorch.org/docs/x.md", "https://pytorch.org/docs/x.md"),
    ],
)
def test_links_lead_to_pages(page: str, link: str, target: str) -> None:
    assert links.relinked(f"See [text]({link}).", page, REPOSITORY) == f"See [text]({target})."


def test_links_in_code_stay() -> None:
    fenced = "```markdown\n[a](../SECURITY.md)\n```"
    markdown = f"[a](../SECURITY.md)\n\n{fenced}\n\n[a](../SECURITY.md)"
    page = "[a](internals/security.md)\n\n{}\n\n[a](internals/security.md)"
    assert links.relinked(markdown, "start.md", REPOSITORY) == page.format(fenced)


def test_the_page_of_the_command_line_names_each_option() -> None:
    parts = re.split(r"^##+ kinetoscope ", command_line.page(), flags=re.MULTILINE)[1:]
    sections = {part.partition("\n")[0]: part for part in parts}
    expected = {(words, option) for words, command in commands(COMMANDS) for option in options(command)}
    named = {(words, option) for words, part in sections.items() for option in re.findall(r"`(--?[\w=-]+)[ `]", part)}
    assert [words for words, _ in commands(COMMANDS) if words not in sections] == []
    assert sorted(expected - named) == []
    assert ("analyze kernels", "--iteration") in expected


def commands(group: CommandGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Command]]:
    """Commands with the words that name them, without those of groups."""
    for command in group.commands():
        words = (*path, command.name)
        if isinstance(command, Command):
            yield " ".join(words), command
        else:
            yield from commands(command, words)


def options(command: Command) -> list[str]:
    """The long and short options of a command, asked of its own parser."""
    parser = argparse.ArgumentParser(add_help=False)
    command.add_arguments(parser)
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    return [option for action in shown for option in action.option_strings]
