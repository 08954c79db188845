"""What counters of CUPTI count."""

from __future__ import annotations

_COUNTER = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
# a fused multiplication and addition is two operations
_OPERATIONS = {"fma": 2, "mul": 1, "add": 1}

CUDA_SASS_INSTRUCTION_COUNTER_FLOPS = {
    _COUNTER.format(f"{precision}{operation}"): count
    for precision in ("f", "h", "d")
    for operation, count in _OPERATIONS.items()
}
"""Floating-point operations that each count of an instruction stands for, by the counter's name."""
