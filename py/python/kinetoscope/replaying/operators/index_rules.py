"""Parameters of operators that select, or that are lengths: where the call states their range."""

from __future__ import annotations

from collections.abc import Collection

ROWS = {
    ("embedding", "indices"): ("weight", 0),
    ("embedding_bag", "indices"): ("weight", 0),
    ("_embedding_bag", "indices"): ("weight", 0),
    ("_embedding_bag_forward_only", "indices"): ("weight", 0),
    ("embedding_renorm", "indices"): ("self", 0),
    ("embedding_renorm_", "indices"): ("self", 0),
    ("take", "index"): ("self", None),
    ("put", "index"): ("self", None),
    ("put_", "index"): ("self", None),
    ("nll_loss_forward", "target"): ("self", 1),
    ("nll_loss_backward", "target"): ("self", 1),
    ("nll_loss2d_forward", "target"): ("self", 1),
    ("nll_loss2d_backward", "target"): ("self", 1),
    ("nll_loss", "target"): ("self", 1),
    ("nll_loss2d", "target"): ("self", 1),
    ("nll_loss_nd", "target"): ("self", 1),
    ("cross_entropy_loss", "target"): ("self", 1),
    ("multi_margin_loss", "target"): ("self", 1),
    ("multi_margin_loss_backward", "target"): ("self", 1),
    ("multilabel_margin_loss_forward", "target"): ("self", -1),
    ("multilabel_margin_loss_backward", "target"): ("self", -1),
    ("_embedding_bag_backward", "offset2bag"): ("grad", 0),
    ("_embedding_bag_dense_backward", "offset2bag"): ("grad", 0),
    ("_embedding_bag_sparse_backward", "offset2bag"): ("grad", 0),
    ("_embedding_bag_per_sample_weights_backward", "offset2bag"): ("grad", 0),
    ("_embedding_bag_per_sample_weights_backward", "indices"): ("weight", 0),
    ("_ctc_loss", "targets"): ("log_probs", -1),
    ("_ctc_loss_backward", "targets"): ("log_probs", -1),
    ("_cudnn_ctc_loss", "targets"): ("log_probs", -1),
    ("_use_cudnn_ctc_loss", "targets"): ("log_probs", -1),
    ("_use_miopen_ctc_loss", "targets"): ("log_probs", -1),
    ("miopen_ctc_loss", "targets"): ("log_probs", -1),
    ("ctc_loss", "targets"): ("log_probs", -1),
    ("_flash_attention_forward", "block_table"): ("key", 0),
    ("_flash_attention_forward", "seqused_k"): ("key", 1),
    ("_efficient_attention_forward", "seqlen_k"): ("key", 1),
    ("_cudnn_attention_forward", "block_table"): ("key", 0),
    ("_cudnn_attention_forward", "seqused_k"): ("key", 1),
    ("searchsorted", "sorter"): ("sorted_sequence", -1),
    ("_convert_indices_from_coo_to_csr", "self"): ("output", 0),
}
"""The range is the size of a dimension of another parameter (None: all elements of it).

`output` is the first result.
"""

FIRST_IS_ONE = {
    ("lu_unpack", "LU_pivots"): ("LU_data", -2),
    ("linalg_lu_solve", "pivots"): ("LU", -2),
    ("linalg_ldl_solve", "pivots"): ("LD", -2),
}
"""As `ROWS`, for positions that count from 1."""

DIMS = {
    *("index_select", "index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_"),
    *("gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_"),
    *("take_along_dim", "index_reduce", "index_reduce_", "_gather_sparse_backward", "gather_backward"),
}
"""Operators with `index` into the dimension `dim` of `self`."""

NAMED_DIMS = {
    ("cummaxmin_backward", "indices"): "input",
    ("value_selecting_reduction_backward", "indices"): "sizes",
}
"""The range is the size, in a tensor or a list of sizes, of the dimension that `dim` names."""

COUNTS = {
    ("embedding_dense_backward", "indices"): "num_weights",
    ("embedding_sparse_backward", "indices"): "num_weights",
    ("embedding_backward", "indices"): "num_weights",
    ("_embedding_bag_backward", "indices"): "num_weights",
    ("_embedding_bag_backward", "maximum_indices"): "num_weights",
    ("_embedding_bag_dense_backward", "indices"): "num_weights",
    ("_embedding_bag_dense_backward", "maximum_indices"): "num_weights",
    ("_embedding_bag_sparse_backward", "indices"): "num_weights",
    ("index_select_backward", "index"): "dim",
    ("one_hot", "self"): "num_classes",
}
"""The range of a parameter is the value of another one."""

PLANES = {
    ("max_pool2d_with_indices_backward", "indices"): ("self", 2),
    ("max_pool3d_with_indices_backward", "indices"): ("self", 3),
    ("adaptive_max_pool2d_backward", "indices"): ("self", 2),
    ("adaptive_max_pool3d_backward", "indices"): ("self", 3),
    ("fractional_max_pool2d_backward", "indices"): ("self", 2),
    ("fractional_max_pool3d_backward", "indices"): ("self", 3),
    ("max_unpool2d", "indices"): ("output_size", 2),
    ("max_unpool3d", "indices"): ("output_size", 3),
}
"""The range is the product of the last sizes of a tensor, or of a list of sizes."""

INDEXING = {
    *("index", "index_put", "index_put_", "_index_put_impl", "_index_put_impl_", "_unsafe_index"),
    *("_unsafe_index_put", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"),
}
"""Operators with a list of `indices`: one per dimension of `self`."""


def needs_place(name: str, places: Collection[int]) -> bool:
    """Whether an operator, given with its namespace, has no default for one of some arguments.

    The first argument never has one, and the indices of a tensor are the second.
    """
    return 0 in places or (1 in places and name.partition("::")[2] in INDEXING)


OFFSETS = {
    ("embedding_bag", "offsets"): "indices",
    ("_embedding_bag", "offsets"): "indices",
    ("_embedding_bag_forward_only", "offsets"): "indices",
    ("_embedding_bag_backward", "offsets"): "indices",
    ("_embedding_bag_sparse_backward", "offsets"): "indices",
    ("_embedding_bag_per_sample_weights_backward", "offsets"): "indices",
    ("_flash_attention_forward", "cum_seq_q"): "query",
    ("_flash_attention_forward", "cum_seq_k"): "key",
    ("_flash_attention_backward", "cum_seq_q"): "query",
    ("_flash_attention_backward", "cum_seq_k"): "key",
    ("_efficient_attention_forward", "cu_seqlens_q"): "query",
    ("_efficient_attention_forward", "cu_seqlens_k"): "key",
    ("_efficient_attention_backward", "cu_seqlens_q"): "query",
    ("_efficient_attention_backward", "cu_seqlens_k"): "key",
    ("_cudnn_attention_forward", "cum_seq_q"): "query",
    ("_cudnn_attention_forward", "cum_seq_k"): "key",
    ("_cudnn_attention_backward", "cum_seq_q"): "query",
    ("_cudnn_attention_backward", "cum_seq_k"): "key",
    ("_grouped_mm", "offs"): "self",
    ("_scaled_grouped_mm", "offs"): "self",
    ("_scaled_grouped_mm_v2", "offs"): "self",
    ("_jagged_to_padded_dense_forward", "offsets"): "values",
    ("_padded_dense_to_jagged_forward", "offsets"): "output",
    ("_nested_view_from_jagged", "offsets"): "self",
    ("segment_reduce", "offsets"): "data",
    ("_segment_reduce_backward", "offsets"): "data",
    ("_convert_indices_from_csr_to_coo", "crow_indices"): "col_indices",
}
"""Ascending offsets into the first dimension of another parameter."""

LENGTHS = {
    ("segment_reduce", "lengths"): "data",
    ("_segment_reduce_backward", "lengths"): "data",
    ("_pack_padded_sequence_backward", "batch_sizes"): "grad",
    ("_pad_packed_sequence", "batch_sizes"): "data",
    ("quantized_lstm", "batch_sizes"): "data",
    ("quantized_gru", "batch_sizes"): "data",
    ("lstm", "batch_sizes"): "data",
    ("gru", "batch_sizes"): "data",
    ("rnn_tanh", "batch_sizes"): "data",
    ("rnn_relu", "batch_sizes"): "data",
    ("_pack_padded_sequence", "lengths"): "output",
}
"""Lengths that sum up to the size of the first dimension of another parameter."""
