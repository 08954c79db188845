//! Costs of pooling and resampling: one operation per element that enters a result. Input, result
//! and indices move once.

use super::call::{OperatorCall, TensorArgument, product};
use super::cost::{OperatorCost, entry};
use super::dtype::named;

#[derive(Debug, Clone, Copy)]
enum PoolingKind {
    /// Over windows: so many dimensions; whether dilation is said after padding, and places are
    /// results.
    Windows(usize, bool),
    /// Its gradient: of a result, in places that are said there.
    Places(usize),
    /// Its gradient, of windows that add up: so many dimensions.
    Spread(usize),
    /// To a given size.
    Adaptive,
    /// To a given size, from so many elements.
    Resampled(i64),
}

static POOLINGS: &[(&str, PoolingKind)] = &[
    ("aten::max_pool2d_with_indices", PoolingKind::Windows(2, true)),
    ("aten::max_pool3d_with_indices", PoolingKind::Windows(3, true)),
    ("aten::avg_pool2d", PoolingKind::Windows(2, false)),
    ("aten::avg_pool3d", PoolingKind::Windows(3, false)),
    ("aten::max_pool2d_with_indices_backward", PoolingKind::Places(7)),
    ("aten::max_pool3d_with_indices_backward", PoolingKind::Places(7)),
    ("aten::avg_pool2d_backward", PoolingKind::Spread(2)),
    ("aten::avg_pool3d_backward", PoolingKind::Spread(3)),
    ("aten::_adaptive_avg_pool2d", PoolingKind::Adaptive),
    ("aten::upsample_nearest2d", PoolingKind::Resampled(0)),
    ("aten::_upsample_nearest_exact2d", PoolingKind::Resampled(0)),
    // Four or sixteen products with weights, and their sum.
    ("aten::upsample_bilinear2d", PoolingKind::Resampled(7)),
    ("aten::upsample_bicubic2d", PoolingKind::Resampled(31)),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(POOLINGS, name).is_some()
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let input = call.tensor(0)?;
    let places = named("int64")?.bytes;
    let (flops, written) = match entry(POOLINGS, name)? {
        PoolingKind::Windows(num_dims, is_with_places) => {
            let window = spread(&call.integers(1)?, num_dims)?;
            let num_results = num_windows(call, input, &window, is_with_places)?;
            let bytes = input.dtype.bytes + if is_with_places { places } else { 0 };
            (num_results.saturating_mul(product(&window)), num_results.saturating_mul(bytes))
        }
        PoolingKind::Places(at) => {
            let (spread_over, places) = (call.tensor(1)?, call.tensor(at)?);
            (input.num_elems(), spread_over.rewritten_bytes().saturating_add(places.bytes()))
        }
        PoolingKind::Spread(num_dims) => {
            let window = spread(&call.integers(2)?, num_dims)?;
            (input.num_elems().saturating_mul(product(&window)), call.tensor(1)?.rewritten_bytes())
        }
        PoolingKind::Adaptive => {
            (input.num_elems(), num_of_size(input, &call.integers(1)?)?.saturating_mul(input.dtype.bytes))
        }
        PoolingKind::Resampled(flops) => {
            let num_results = num_of_size(input, &call.integers(1)?)?;
            (num_results.saturating_mul(flops), num_results.saturating_mul(input.dtype.bytes))
        }
    };
    Some(OperatorCost { flops, bytes: input.bytes().saturating_add(written), dtype: input.dtype })
}

/// Elements of a picture of that size for each of the input's.
fn num_of_size(input: &TensorArgument, size: &[i64]) -> Option<i64> {
    let is_size = !size.is_empty() && size.iter().all(|pixels| *pixels >= 0);
    let num_pictures = input.shape.len().checked_sub(size.len()).filter(|_| is_size)?;
    Some(product(&input.shape[..num_pictures]).saturating_mul(product(size)))
}

/// A size for each dimension; one given size applies to all.
fn spread(sizes: &[i64], num_dims: usize) -> Option<Vec<i64>> {
    match *sizes {
        [one] => Some(vec![one; num_dims]),
        _ if sizes.len() == num_dims => Some(sizes.to_vec()),
        _ => None,
    }
}

/// How many windows of all pictures there are: `(size + 2 padding − dilation (window − 1) − 1) /
/// stride + 1` in each dimension.
fn num_windows(call: &OperatorCall, input: &TensorArgument, window: &[i64], is_dilated: bool) -> Option<i64> {
    let num_dims = window.len();
    let said = |at: usize, else_: &[i64]| {
        let sizes = call.integers(at).filter(|sizes| !sizes.is_empty());
        spread(sizes.as_deref().unwrap_or(else_), num_dims)
    };
    let (strides, paddings) = (said(2, window)?, said(3, &[0])?);
    let dilations = if is_dilated { said(4, &[1])? } else { vec![1; num_dims] };
    let rounds_up = call.flag(if is_dilated { 5 } else { 4 });
    let first = input.shape.len().checked_sub(num_dims)?;
    let mut sizes = input.shape[..first].to_vec();
    for (dim, size) in input.shape[first..].iter().enumerate() {
        let (stride, padding, covered) =
            (strides[dim], paddings[dim], dilations[dim].checked_mul(window[dim].checked_sub(1)?)?);
        let room = size.checked_add(padding.checked_mul(2)?)?.checked_sub(covered)?.checked_sub(1)?;
        if stride <= 0 || window[dim] <= 0 || room < 0 {
            return None;
        }
        let mut count = room / stride + 1;
        // One more where it begins inside of the input or its padding to the left.
        let begins_inside = || count.checked_mul(stride).is_some_and(|start| start < size.saturating_add(padding));
        if rounds_up && room % stride != 0 && begins_inside() {
            count += 1;
        }
        sizes.push(count);
    }
    Some(product(&sizes))
}
