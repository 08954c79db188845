//! The cost of an operator's call, and the families of operators.

use super::dtype::Dtype;

/// The least cost of a call.
///
/// Operations follow the mathematics, whatever the kernels do; a multiply-add counts as two. Bytes
/// count each argument and result once, an expanded one as often as memory holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OperatorCost {
    pub flops: i64,
    pub bytes: i64,
    /// The type of the computation.
    pub dtype: Dtype,
}

/// Operators with the same cost formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum OperatorFamily {
    Matmul,
    Convolution,
    Attention,
    /// Of sequences whose lengths are not recorded: its operations are those of as few as may be,
    /// of the greatest length, and so an upper bound.
    VariableAttention,
    Normalisation,
    Softmax,
    Reduction,
    Elementwise,
    Embedding,
    Copy,
    Scatter,
    Pooling,
    Loss,
    Optimizer,
    /// Operators in one generated kernel.
    #[cfg_attr(not(feature = "kernel-sources"), allow(dead_code, reason = "no source, no operations"))]
    Fused,
    /// The same, where the source of the kernel is unknown, and its operations with it.
    FusedOfUnknownOperations,
}

impl OperatorFamily {
    /// The name used in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Matmul => "matmul",
            Self::Convolution => "convolution",
            Self::Attention => "attention",
            Self::VariableAttention => "variable_attention",
            Self::Normalisation => "normalisation",
            Self::Softmax => "softmax",
            Self::Reduction => "reduction",
            Self::Elementwise => "elementwise",
            Self::Embedding => "embedding",
            Self::Copy => "copy",
            Self::Scatter => "scatter",
            Self::Pooling => "pooling",
            Self::Loss => "loss",
            Self::Optimizer => "optimizer",
            Self::Fused | Self::FusedOfUnknownOperations => "fused",
        }
    }

    /// Whether a device has units of their own for it.
    pub(super) fn is_of_matrices(self) -> bool {
        matches!(self, Self::Matmul | Self::Convolution | Self::Attention | Self::VariableAttention)
    }
}

/// An operator without the mark of one that writes its first argument.
pub(super) fn base(name: &str) -> &str {
    name.strip_suffix('_').unwrap_or(name)
}

/// The entry of a name in a table.
pub(super) fn entry<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
}
