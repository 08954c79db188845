"""Lists the operators that torch composes of other operators, for the replay of a trace.

python scripts/composite_operators.py > py/python/kinetoscope/replaying/operators/composite.txt
"""

from __future__ import annotations

import torch

KEY = "CompositeImplicitAutograd"


def composite() -> list[str]:
    """Returns the names of operators with a composition for all devices, with their overloads."""
    registry = vars(torch._C)  # noqa: SLF001 - torch has no public name for it
    own = [name for name in registry["_dispatch_get_all_op_names"]() if name.startswith("aten::")]
    return sorted(name for name in own if registry["_dispatch_has_kernel_for_dispatch_key"](name, KEY))


if __name__ == "__main__":
    print("\n".join(composite()))
