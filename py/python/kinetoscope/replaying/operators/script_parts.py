"""Parts of the script of a benchmark, of which the same ones come in every script."""

HEAD = '''\
"""Benchmark of {name}, as recorded in {source}.

{calls}.
{facts}
"""

{imports}

import torch
from torch.utils.benchmark import {timer}

DEVICE = sys.argv[1] if len(sys.argv) > 1 else {device}
RECORDED_NS = {recorded}
ROOFLINE_NS = {roofline}
'''

IMPORTS = (
    *("import contextlib", "import copy", "import statistics", "import sys", "import timeit"),
    "from functools import partial",
)
"""Imports of a script: those that it needs."""

MAKE = '''

def make(dtype, shape, stride=None, offset=0, fill=torch.randn, device=DEVICE):
    """A tensor in a storage of its own, with the values of `fill`."""
    stride = stride or torch.empty(shape, device="meta").stride()
    length = offset + max(sum((size - 1) * step for size, step in zip(shape, stride)) + 1, 0)
    storage = fill((length,), device=device).to(dtype).untyped_storage()
    return torch.empty(0, dtype=dtype, device=device).set_(storage, offset, shape, stride)
'''

OPERATOR = """
OPERATOR = {overload}
if not isinstance(OPERATOR, torch._ops.OpOverload):
    sys.exit("no such operator is registered: import the library that has it")
"""

BIND = """
PACKET, ERRORS = {packet}, []
for OPERATOR in [getattr(PACKET, name) for name in PACKET.overloads()]:  # the trace does not record which
    try:
        recorded = [(OPERATOR._schema.arguments[at], value) for at, value in enumerate(VALUES)]
        missing = {{each.name: DEVICE if str(each.type) == "Device" else each.default_value for each, _ in recorded}}
        filled = [(each, missing[each.name] if value is None else value) for each, value in recorded]
        ARGUMENTS = [value for each, value in filled if not each.kwarg_only]
        NAMED = {{each.name: value for each, value in filled if each.kwarg_only}}
        with contextlib.nullcontext(){context}:
            OPERATOR(*copy.deepcopy(ARGUMENTS), **copy.deepcopy(NAMED))
        break
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        ERRORS.append(error)
else:
    lacks = next((error for error in ERRORS if isinstance(error, NotImplementedError)), None)
    sys.exit(f"no kernel for {{DEVICE}}: {{lacks}}" if lacks else "no overload takes the recorded arguments{unknown}")
"""
"""Takes the defaults of the overload for values that are not recorded, such as texts."""

COPIES = "given, named = copy.deepcopy((ARGUMENTS, NAMED))"
CALL_OF_COPIES = "OPERATOR(*given, **named)"

MEASURE = '''

def device_ns(runs=50):
    """The median time on the device, with a cold L2 cache."""
    size = 4 * torch.cuda.get_device_properties(DEVICE).L2_cache_size
    flush = torch.empty(size, dtype=torch.int8, device=DEVICE)
    marks = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
    for begin, end in marks:
{copies}        flush.zero_()
        begin.record()
        {call}
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in marks) * 1e6


with {context}:
{host}
    measured = device_ns() if DEVICE.startswith("cuda") else host_ns
times = {{"recorded": RECORDED_NS, "measured": measured, "with launch, warm": host_ns, "roofline": ROOFLINE_NS}}
for name, ns in times.items():
    print(f"{{name:>17}} {{'unknown' if ns is None else f'{{ns / 1e3:,.2f}} us'}}")
'''

TIMED = """\
    clock = Timer("{call}", globals=globals(), num_threads=torch.get_num_threads())
    host_ns = clock.blocked_autorange(min_run_time=0.2).median * 1e9"""

TIMED_COPIES = f"""\
    copies = "{COPIES}"  # the operator changes its inputs
    host_ns = statistics.median(timeit.repeat("{CALL_OF_COPIES}", copies, timer, 50, 1, globals())) * 1e9"""
"""Makes the copies outside of the time."""
