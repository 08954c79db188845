//! Losses: so many operations an element that goes in; arguments and result once. Of a loss by classes only the class that is
//! right is read, and of its gradient only that is written: the zeros of the others are `aten::zero_`'s.

use super::call::Call;
use super::dtype::Dtype;
use super::model::{Cost, entry};

#[derive(Debug, Clone, Copy)]
enum Loss {
    /// Operations an element of two arguments, and where it is said whether all are added up.
    Each(i64, usize),
    /// The gradient of such: arguments, and a result like the first of them.
    Gradient(i64),
    /// Of classes, or the gradient of such: scores, the numbers of classes.
    Classes(usize, usize),
}

static LOSSES: &[(&str, Loss)] = &[
    ("aten::mse_loss", Loss::Each(3, 2)),
    ("aten::l1_loss", Loss::Each(3, 2)),
    ("aten::smooth_l1_loss", Loss::Each(5, 2)),
    ("aten::huber_loss", Loss::Each(5, 2)),
    ("aten::binary_cross_entropy", Loss::Each(7, 3)),
    ("aten::binary_cross_entropy_with_logits", Loss::Each(7, 4)),
    ("aten::binary_cross_entropy_backward", Loss::Gradient(5)),
    ("aten::nll_loss_forward", Loss::Classes(0, 1)),
    ("aten::nll_loss2d_forward", Loss::Classes(0, 1)),
    ("aten::nll_loss_backward", Loss::Classes(1, 2)),
    ("aten::nll_loss2d_backward", Loss::Classes(1, 2)),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(LOSSES, name).is_some()
}

pub(super) fn cost(name: &str, call: &Call) -> Option<Cost> {
    let of = |flops: i64, bytes: i64, dtype: Dtype| Some(Cost { flops, bytes, dtype });
    match entry(LOSSES, name)? {
        Loss::Each(flops, reduction) => {
            let input = call.tensor(0)?;
            let is_added_up = call.integers(reduction).is_none_or(|how| how != [0]);
            let result = if is_added_up { input.dtype.bytes } else { input.bytes_anew() };
            of(input.num_elems().saturating_mul(flops), call.read_bytes().saturating_add(result), input.dtype)
        }
        Loss::Gradient(flops) => {
            let input = call.tensor(1)?;
            let bytes = call.read_bytes().saturating_add(input.bytes_anew());
            of(input.num_elems().saturating_mul(flops), bytes, input.dtype)
        }
        Loss::Classes(scores, classes) => {
            let (scores, classes) = (call.tensor(scores)?, call.tensor(classes)?);
            let right = classes.num_elems().saturating_add(1).saturating_mul(scores.dtype.bytes);
            of(classes.num_elems(), right.saturating_add(classes.bytes()), scores.dtype)
        }
    }
}
