//! Finds the cost model of an operator by its name: each family has a table of names.

use super::call::OperatorCall;
use super::cost::{OperatorCost, OperatorFamily};
use super::{
    attention, convolution, elementwise, gather, loss, matmul, normalisation, optimizer, pooling, reduction, scatter,
    serving, variable_attention,
};

/// Finds the cost of a call of the operator of a name; none where its arguments do not tell.
type FindCost = fn(&str, &OperatorCall) -> Option<OperatorCost>;

/// Whether an operator of that name is of a family.
type IsFamilyMember = fn(&str) -> bool;

static FAMILIES: [(OperatorFamily, IsFamilyMember, FindCost); 18] = [
    (OperatorFamily::Matmul, matmul::is_known, matmul::cost),
    (OperatorFamily::Convolution, convolution::is_known, convolution::cost),
    (OperatorFamily::Attention, attention::is_known, attention::cost),
    (OperatorFamily::VariableAttention, variable_attention::is_known, variable_attention::cost),
    (OperatorFamily::Normalisation, normalisation::is_known, normalisation::cost),
    (OperatorFamily::Softmax, reduction::is_softmax, reduction::softmax_cost),
    (OperatorFamily::Reduction, reduction::is_known, reduction::cost),
    (OperatorFamily::Embedding, gather::is_known, gather::cost),
    (OperatorFamily::Copy, gather::is_copy, gather::copy_cost),
    (OperatorFamily::Scatter, scatter::is_known, scatter::cost),
    (OperatorFamily::Pooling, pooling::is_known, pooling::cost),
    (OperatorFamily::Loss, loss::is_known, loss::cost),
    (OperatorFamily::Optimizer, optimizer::is_known, optimizer::cost),
    (OperatorFamily::Elementwise, elementwise::is_known, elementwise::cost),
    (OperatorFamily::Matmul, serving::is_matmul, serving::cost),
    (OperatorFamily::Normalisation, serving::is_normalisation, serving::cost),
    (OperatorFamily::Elementwise, serving::is_elementwise, serving::cost),
    (OperatorFamily::Copy, serving::is_store, serving::cost),
];

/// How an operator's cost is found.
#[derive(Debug, Clone, Copy)]
pub(super) struct CostModel {
    family: OperatorFamily,
    cost: FindCost,
}

impl CostModel {
    /// The model of an operator, where there is one.
    pub(super) fn of(name: &str) -> Option<Self> {
        FAMILIES
            .iter()
            .find(|(_, is_known, _)| is_known(name))
            .map(|(family, _, cost)| Self { family: *family, cost: *cost })
    }

    /// The cost of a call and its family; `None` where the arguments do not determine it.
    pub(super) fn cost(&self, name: &str, call: &OperatorCall) -> Option<(OperatorFamily, OperatorCost)> {
        if self.family == OperatorFamily::Attention
            && let Some(cost) = variable_attention::cost(name, call)
        {
            return Some((OperatorFamily::VariableAttention, cost));
        }
        Some((self.family, (self.cost)(name, call)?))
    }
}
