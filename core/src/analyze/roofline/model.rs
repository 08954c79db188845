//! What an operator computes and moves at least, by its name: one table of names for each family.

use super::call::Call;
use super::dtype::Dtype;
use super::{
    attention, convolution, elementwise, gather, loss, matmul, normalisation, optimizer, pooling, reduction, scatter,
    variable_attention,
};

/// What a call computes and moves at least.
///
/// Operations are those of the mathematics, a multiplication and an addition two of them, whatever the kernels do; bytes are
/// those of each argument and each result once, of what is expanded as often as memory holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub flops: i64,
    pub bytes: i64,
    /// What is computed with.
    pub dtype: Dtype,
}

/// Operators whose costs are found in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Family {
    Matmul,
    Convolution,
    Attention,
    /// Of sequences whose lengths are not recorded: its operations are those of as few as may be, of the greatest length,
    /// and so an upper bound.
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
}

impl Family {
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
        }
    }

    /// Whether a device has units of their own for it.
    pub(super) fn is_of_matrices(self) -> bool {
        matches!(self, Self::Matmul | Self::Convolution | Self::Attention | Self::VariableAttention)
    }
}

/// Finds the cost of a call of the operator of a name; none where its arguments do not tell.
type FindCost = fn(&str, &Call) -> Option<Cost>;

/// Whether an operator of that name is of a family.
type IsKnown = fn(&str) -> bool;

static FAMILIES: [(Family, IsKnown, FindCost); 14] = [
    (Family::Matmul, matmul::is_known, matmul::cost),
    (Family::Convolution, convolution::is_known, convolution::cost),
    (Family::Attention, attention::is_known, attention::cost),
    (Family::VariableAttention, variable_attention::is_known, variable_attention::cost),
    (Family::Normalisation, normalisation::is_known, normalisation::cost),
    (Family::Softmax, reduction::is_softmax, reduction::softmax_cost),
    (Family::Reduction, reduction::is_known, reduction::cost),
    (Family::Embedding, gather::is_known, gather::cost),
    (Family::Copy, gather::is_copy, gather::copy_cost),
    (Family::Scatter, scatter::is_known, scatter::cost),
    (Family::Pooling, pooling::is_known, pooling::cost),
    (Family::Loss, loss::is_known, loss::cost),
    (Family::Optimizer, optimizer::is_known, optimizer::cost),
    (Family::Elementwise, elementwise::is_known, elementwise::cost),
];

/// How an operator's cost is found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model {
    family: Family,
    cost: FindCost,
}

impl Model {
    /// The model of an operator, where there is one.
    pub(super) fn of(name: &str) -> Option<Self> {
        FAMILIES
            .iter()
            .find(|(_, is_known, _)| is_known(name))
            .map(|(family, _, cost)| Self { family: *family, cost: *cost })
    }

    /// What a call of an operator of that name costs, and of which family it is; none where its arguments do not tell.
    pub(super) fn cost(&self, name: &str, call: &Call) -> Option<(Family, Cost)> {
        if self.family == Family::Attention
            && let Some(cost) = variable_attention::cost(name, call)
        {
            return Some((Family::VariableAttention, cost));
        }
        Some((self.family, (self.cost)(name, call)?))
    }
}

/// An operator without the mark of one that writes its first argument.
pub(super) fn base(name: &str) -> &str {
    name.strip_suffix('_').unwrap_or(name)
}

/// What a table of names says of one.
pub(super) fn entry<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
}
