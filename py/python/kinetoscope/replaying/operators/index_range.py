"""Valid values of the tensors that select: a trace records no values, so random ones must fit."""

from __future__ import annotations

from typing import NamedTuple

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.value import TensorValue, Value


class IndexRange(NamedTuple):
    """Valid values of a tensor of whole numbers: from 0 to less than `end`."""

    end: int
    is_sorted: bool = False
    """Whether values are offsets: from 0 up to `end`, in equal steps."""
    reaches_end: bool = False
    """Whether the last offset is `end` itself."""


_ROWS = {
    ("embedding", "indices"): ("weight", 0),
    ("embedding_bag", "indices"): ("weight", 0),
    ("_embedding_bag", "indices"): ("weight", 0),
    ("_embedding_bag_forward_only", "indices"): ("weight", 0),
    ("embedding_renorm_", "indices"): ("self", 0),
    ("take", "index"): ("self", None),
    ("put_", "index"): ("self", None),
    ("nll_loss_forward", "target"): ("self", 1),
    ("nll_loss_backward", "target"): ("self", 1),
    ("nll_loss2d_forward", "target"): ("self", 1),
    ("nll_loss2d_backward", "target"): ("self", 1),
    ("nll_loss", "target"): ("self", 1),
    ("nll_loss_nd", "target"): ("self", 1),
    ("cross_entropy_loss", "target"): ("self", 1),
    ("multi_margin_loss", "target"): ("self", 1),
    ("_embedding_bag_dense_backward", "offset2bag"): ("grad", 0),
    ("_embedding_bag_per_sample_weights_backward", "indices"): ("weight", 0),
}
"""The range of a parameter is the size of a dimension of another one (None: all its elements)."""

_DIMS = {
    *("index_select", "index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_"),
    *("gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_"),
    *("take_along_dim", "index_reduce", "index_reduce_", "_gather_sparse_backward", "gather_backward"),
}
"""Operators with `index` into the dimension `dim` of `self`."""

_COUNTS = {
    ("embedding_dense_backward", "indices"): "num_weights",
    ("embedding_backward", "indices"): "num_weights",
    ("_embedding_bag_backward", "indices"): "num_weights",
    ("_embedding_bag_dense_backward", "indices"): "num_weights",
    ("index_select_backward", "index"): "dim",
    ("one_hot", "self"): "num_classes",
}
"""The range of a parameter is the value of another one."""

_INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}
_OFFSETS = {
    ("embedding_bag", "offsets"): "indices",
    ("_embedding_bag", "offsets"): "indices",
    ("_embedding_bag_forward_only", "offsets"): "indices",
    ("_flash_attention_forward", "cum_seq_q"): "query",
    ("_flash_attention_forward", "cum_seq_k"): "key",
    ("_flash_attention_backward", "cum_seq_q"): "query",
    ("_flash_attention_backward", "cum_seq_k"): "key",
    ("_efficient_attention_forward", "cu_seqlens_q"): "query",
    ("_efficient_attention_forward", "cu_seqlens_k"): "key",
}
_INCLUDES_LAST = "include_last_offset"

PROBABILITIES = {"bernoulli", "multinomial", "poisson", "binary_cross_entropy", "binary_cross_entropy_backward"}
"""Operators that refuse values outside of 0 to 1."""


def index_ranges(call: OperatorCall) -> dict[tuple[int, int], IndexRange]:
    """Returns the ranges of the tensors that select.

    Keys are the place of the argument, and the place in its list or -1.
    """
    name = call.name.partition("::")[2]
    found: dict[tuple[int, int], IndexRange] = {}
    for place, (value, parameter) in enumerate(call.arguments):
        if parameter is None:
            continue
        if isinstance(value, list) and name in _INDEXING and parameter.name == "indices":
            found.update(_indexed(call, place, value))
        elif isinstance(value, TensorValue) and value.is_integer:
            known = _range(call, name, parameter.name)
            if known is not None:
                found[place, -1] = known
    return found


def _range(call: OperatorCall, name: str, parameter: str) -> IndexRange | None:
    if (name, parameter) in _ROWS:
        source, dim = _ROWS[name, parameter]
        return _of_size(call.value_of(source), dim)
    if name in _DIMS and parameter == "index":
        dim = call.value_of("dim")
        return _of_size(call.value_of("self"), dim if isinstance(dim, int) else 0)
    if (name, parameter) in _COUNTS:
        number = call.value_of(_COUNTS[name, parameter])
        return IndexRange(number) if isinstance(number, int) and number > 0 else None
    if (name, parameter) in _OFFSETS:
        source = call.value_of(_OFFSETS[name, parameter])
        if isinstance(source, TensorValue) and source.shape:
            is_last = "embedding" not in name or call.value_of(_INCLUDES_LAST) is True
            return IndexRange(source.shape[0], is_sorted=True, reaches_end=is_last)
    return None


def _of_size(source: Value, dim: int | None) -> IndexRange | None:
    if not isinstance(source, TensorValue):
        return None
    if dim is None:
        return IndexRange(source.num_elems)
    if not source.shape:
        return IndexRange(1)
    at = min(dim, len(source.shape) - 1)
    return IndexRange(source.shape[at]) if -len(source.shape) <= at else None


def _indexed(call: OperatorCall, place: int, indices: list[Value]) -> dict[tuple[int, int], IndexRange]:
    """Returns ranges for `self[a, :, b]`: each index tensor selects from its dimension."""
    source = call.value_of("self")
    shape = source.shape if isinstance(source, TensorValue) else ()
    found: dict[tuple[int, int], IndexRange] = {}
    dim = 0
    for at, index in enumerate(indices):
        if isinstance(index, TensorValue) and index.dtype in {"bool", "uint8"}:
            dim += len(index.shape)
            continue
        if isinstance(index, TensorValue) and dim < len(shape):
            found[place, at] = IndexRange(shape[dim])
        dim += 1
    return found
