"""Writes a benchmark of one operator as a standalone script."""

from __future__ import annotations

import keyword
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kinetoscope.replaying.operators import script_parts as parts
from kinetoscope.replaying.operators.argument_code import ArgumentCode
from kinetoscope.replaying.operators.autocast import autocast_type
from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.in_place import needs_copies, writes
from kinetoscope.replaying.operators.literal import comment

MAX_LINES = 80
WIDTH = 120
"""Columns of a line. Long lists of tensors with many shapes get wider ones."""


class ScriptFacts(NamedTuple):
    """Texts and times that the script shows beside its measurement."""

    source: str
    recorded_ns: float | None
    is_device_time: bool
    num_calls: int
    roofline_ns: float | None
    bound: str | None
    device_name: str | None
    notes: Sequence[str] = ()


class _Form(NamedTuple):
    """How tightly a script is written."""

    width: int = WIDTH
    is_packed: bool = True
    """Whether lines hold several arguments."""
    is_terse: bool = True
    """Whether the head is a paragraph, without the list of inputs."""


_FORMS = (
    _Form(is_packed=False, is_terse=False),
    _Form(is_terse=False),
    *map(_Form, (WIDTH, 200, 400, 1000, 10_000, 1_000_000)),
)
"""The first one with at most `MAX_LINES` lines counts."""


def script(call: OperatorCall, facts: ScriptFacts) -> str:
    """Returns the text of a script that runs a call and measures it.

    Every value in it is a number, a quoted text or a name of torch. Raises RefusedValueError if a
    repetition would measure something else.
    """
    code = ArgumentCode(call)
    has_copies = needs_copies(call)
    unknown = [*code.unknown(), *facts.notes]
    if writes(call) and not has_copies:
        unknown.append("the state before each call: the operator changes its arguments here again and again")
    autocast = autocast_type(call)
    context = "" if autocast is None else f', torch.autocast(DEVICE.partition(":")[0], torch.{autocast})'
    measure = _measure("OPERATOR(*ARGUMENTS, **NAMED)", context, has_copies=has_copies)
    name = "VALUES" if call.signature is None else "ARGUMENTS"
    found = ""
    for form in _FORMS:
        body = "\n".join(code.lines(form.width, is_packed=form.is_packed, name=name))
        rest = f"\n\n{body}\n{_operator(call, context, facts.notes)}{measure}"
        made = parts.MAKE if "make(" in body else ""
        found = f"{_head(call, facts, code, unknown, form, f'{made}{rest}')}{made}{rest}"
        if found.count("\n") <= MAX_LINES:
            break
    return found


def kernel_text(call: OperatorCall, source: str, facts: ScriptFacts) -> str:
    """Returns the text of a script that runs a generated kernel, after its source."""
    code = ArgumentCode(call)
    unknown = (
        "values of tensors: random here, and 1 for whole numbers",
        "whether the compiler of this machine tunes the kernel alike",
    )
    body = "\n".join(code.lines(WIDTH, is_packed=False))
    stored = f"# --- source of the kernel, as stored beside the trace ---\n{source.strip()}\n"
    measure = _measure(f"{call.name}.run(*ARGUMENTS, stream=torch.cuda.current_stream().cuda_stream)")
    rest = f"{parts.MAKE}\n\n{body}\n{measure}"
    return f"{_head(call, facts, code, unknown, _FORMS[0], rest)}\n{stored}{rest}"


def _head(
    call: OperatorCall, facts: ScriptFacts, code: ArgumentCode, unknown: Sequence[str], form: _Form, rest: str
) -> str:
    return parts.HEAD.format(
        name=call.name if call.signature is None else call.signature.full,
        source=comment(facts.source),
        calls=_calls(facts),
        facts=_facts(unknown or ["nothing that matters to the time"], _shapes(call), form),
        imports="\n".join(line for line in parts.IMPORTS if _imported(line) in f"sys.{rest}"),
        timer="timer" if "timeit." in rest else "Timer",
        device=code.default_device(),
        recorded=_number(facts.recorded_ns),
        roofline=_number(facts.roofline_ns),
    )


def _imported(line: str) -> str:
    """Returns code that needs an import: `copy.` or `partial(`."""
    return "partial(" if line.startswith("from ") else f"{line.removeprefix('import ')}."


def _facts(unknown: Sequence[str], shapes: str, form: _Form) -> str:
    if form.is_terse:
        return textwrap.fill(f"The trace does not know: {'; '.join(unknown)}.", form.width, break_on_hyphens=False)
    inputs = textwrap.fill(f"Inputs: {shapes}", form.width, break_on_hyphens=False)
    return "\n".join(["The trace does not know:", *(f"- {line}" for line in unknown), inputs])


def _operator(call: OperatorCall, context: str, unknown: Sequence[str]) -> str:
    """Returns code that finds the operator."""
    namespace, _, operator = call.name.partition("::")
    packet = _attribute("torch.ops", *namespace.split("."), operator)
    if call.signature is None:
        return parts.BIND.format(packet=packet, context=context, unknown="".join(f" ({each})" for each in unknown))
    return parts.OPERATOR.format(overload=_attribute(packet, call.signature.overload or "default"))


def _attribute(base: str, *names: str) -> str:
    """Returns code for an attribute; words of Python, such as `from`, need `getattr`."""
    for name in names:
        base = f'getattr({base}, "{name}")' if keyword.iskeyword(name) else f"{base}.{name}"
    return base


def _measure(call: str, context: str = "", *, has_copies: bool = False) -> str:
    return parts.MEASURE.format(
        call=parts.CALL_OF_COPIES if has_copies else call,
        copies=f"        {parts.COPIES}  # the operator changes its inputs\n" if has_copies else "",
        context=f"torch.no_grad(){context}",
        host=(parts.TIMED_COPIES if has_copies else parts.TIMED).format(call=call),
    )


def _calls(facts: ScriptFacts) -> str:
    time = "on the device" if facts.is_device_time else "on the host"
    where = f", {comment(facts.device_name)}" if facts.device_name else ""
    number = f"{facts.num_calls:,} call{'' if facts.num_calls == 1 else 's'}"
    if facts.recorded_ns is None:
        return f"Recorded without times: {number}"
    bound = f"; the roofline is that of {facts.bound}" if facts.bound in {"memory", "compute"} else ""
    return f"RECORDED_NS is the mean of {number} {time}{where}{bound}"


def _shapes(call: OperatorCall) -> str:
    found = Counter(f"{each.dtype}{list(each.shape)}" for each in call.inputs)
    shapes = (name if count == 1 else f"{count} x {name}" for name, count in found.items())
    return comment(", ".join(shapes)) or "no tensors"


def _number(ns: float | None) -> str:
    return "None  # unknown" if ns is None else f"{ns:.0f}"
