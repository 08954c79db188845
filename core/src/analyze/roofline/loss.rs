//! Costs of losses: operations per input element; arguments and result move once. A loss by classes
//! reads only the right class; its gradient writes only that, as `aten::zero_` writes the zeros.

use super::call::OperatorCall;
use super::cost::{OperatorCost, entry};
use super::dtype::Dtype;

#[derive(Debug, Clone, Copy)]
enum LossKind {
    /// Operations an element of two arguments, and where it is said whether all are added up.
    Each(i64, usize),
    /// The gradient of such: arguments, and a result like the first of them.
    Gradient(i64),
    /// Of classes, or the gradient of such: scores, the numbers of classes.
    Classes(usize, usize),
}

static LOSSES: &[(&str, LossKind)] = &[
    ("aten::mse_loss", LossKind::Each(3, 2)),
    ("aten::l1_loss", LossKind::Each(3, 2)),
    ("aten::smooth_l1_loss", LossKind::Each(5, 2)),
    ("aten::huber_loss", LossKind::Each(5, 2)),
    ("aten::binary_cross_entropy", LossKind::Each(7, 3)),
    ("aten::binary_cross_entropy_with_logits", LossKind::Each(7, 4)),
    ("aten::binary_cross_entropy_backward", LossKind::Gradient(5)),
    ("aten::nll_loss_forward", LossKind::Classes(0, 1)),
    ("aten::nll_loss2d_forward", LossKind::Classes(0, 1)),
    ("aten::nll_loss_backward", LossKind::Classes(1, 2)),
    ("aten::nll_loss2d_backward", LossKind::Classes(1, 2)),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(LOSSES, name).is_some()
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let of = |flops: i64, bytes: i64, dtype: Dtype| Some(OperatorCost { flops, bytes, dtype });
    match entry(LOSSES, name)? {
        LossKind::Each(flops, reduction) => {
            let input = call.tensor(0)?;
            let is_added_up = call.integers(reduction).is_none_or(|how| how != [0]);
            let result = if is_added_up { input.dtype.bytes } else { input.rewritten_bytes() };
            of(input.num_elems().saturating_mul(flops), call.read_bytes().saturating_add(result), input.dtype)
        }
        LossKind::Gradient(flops) => {
            let input = call.tensor(1)?;
            let bytes = call.read_bytes().saturating_add(input.rewritten_bytes());
            of(input.num_elems().saturating_mul(flops), bytes, input.dtype)
        }
        LossKind::Classes(scores, classes) => {
            let (scores, classes) = (call.tensor(scores)?, call.tensor(classes)?);
            let right = classes.num_elems().saturating_add(1).saturating_mul(scores.dtype.bytes);
            of(classes.num_elems(), right.saturating_add(classes.bytes()), scores.dtype)
        }
    }
}
