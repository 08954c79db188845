"""Names of device vendors stand in `core/src/vendor` alone."""

from __future__ import annotations

import pytest
from rules import tree, vendors

pytestmark = pytest.mark.unit

EXCEPTIONS = {
    "core/src/analyze/critical_path/hta/": "HTA's own lists of calls, which its numbers follow",
    "core/src/analyze/memory/device.rs": "PyTorch's numbers of all device types",
    "core/src/label/words.rs": "types of C++ in names of kernels",
    "core/src/analyze/roofline/serving.rs": "names of operators, as vLLM registers them",
    "core/src/read/flight/": "keys of PyTorch's flight recorder, whatever the backend",
    "core/src/read/msprof/": "layers of the traces that only Ascend's tools write",
    "core/src/read/nsight/": "tables of CUPTI, which only CUDA has",
    "core/src/read/rocm/": "tables of tools that only ROCm has, and Kineto's words for their rows",
    "core/src/trace/arg_key.rs": "keys of args as Kineto writes them",
    "core/src/view/report/recording_facts.rs": "a key of PyTorch's distributedInfo, whatever the backend",
    "core/src/write/et_plus/": "calls that chakra_trace_link knows, which its output follows",
}

ENTRY = """
pub(super) static ACME: Vendor = Vendor {
    name: "acme",
    calls: HostCalls { enqueue: &["Launch"], ..HostCalls::EMPTY },
    communication: CommunicationLibraries { backends: &["accl"], kernels: &["accl"], before_collective: &[] },
    device_types: &["acmeone"],
    call_prefixes: &["ac", "Acme@"],
    ..Vendor::EMPTY
};
"""


def test_core() -> None:
    sources = {name: tree.text(name) for name in tree.under("core/src", ".rs")}
    names = vendors.pattern(source for name, source in sources.items() if name.startswith(vendors.ROOM))
    found = vendors.findings(sources, names, EXCEPTIONS)
    assert not found, "\n".join(found)


def found(source: str, exceptions: dict[str, str] | None = None, path: str = "core/src/link/launch.rs") -> list[str]:
    return vendors.findings({path: source}, vendors.pattern([ENTRY]), exceptions or {})


@pytest.mark.parametrize(
    "literal",
    ['"acLaunchKernel"', '"acme"', '"acme:0"', '"acme_runtime"', '"accl:all_reduce"', 'b"acmeone"', '"my_acMalloc"'],
)
def test_a_name_in_another_room_is_found(literal: str) -> None:
    (line,) = found(f"\nconst NAME: &str = {literal};")
    assert line.startswith("core/src/link/launch.rs:2: expected ")


@pytest.mark.parametrize(
    "source",
    [
        "// acLaunchKernel",
        '/// let name = "acLaunchKernel";',
        'const NAME: &str = "action";',
        'const NAME: &str = "accli";',
        'const ADVICE: &str = "look at torch.acme in the loop";',
        'fn f() {}\n\n#[cfg(test)]\nmod tests {\n    const NAME: &str = "acLaunchKernel";\n}',
    ],
)
def test_another_text_is_let_be(source: str) -> None:
    assert found(source) == []


def test_the_room_itself_and_tests_are_let_be() -> None:
    assert found(ENTRY, path="core/src/vendor/acme.rs") == []
    assert found('"acme"', path="core/src/read/memory/tests.rs") == []


def test_an_exception_is_for_something() -> None:
    assert found('"acme"', {"core/src/link/": "reason"}) == []
    assert found('"acme"', {"core/src/link/launch.rs": "reason"}) == []
    assert found("", {"core/src/link/": "reason"}) == ["exception core/src/link/: nothing needs it"]


def test_a_room_without_names_is_found() -> None:
    with pytest.raises(ValueError, match="expected names in core/src/vendor/, found none"):
        vendors.pattern(["static A: u8 = 0;"])
