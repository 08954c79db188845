//! Costs of convolutions: `2·elements of the result·channels and taps per element`, and the same
//! per gradient.

use super::call::{OperatorCall, product};
use super::cost::{OperatorCost, entry};

/// Positions of the arguments of a forward convolution.
#[derive(Debug, Clone, Copy)]
struct ConvolutionForward {
    stride: usize,
    padding: usize,
    dilation: Option<usize>,
    /// Argument that says whether it is transposed, where the operator has one.
    transposed: TransposedFlag,
    groups: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
enum TransposedFlag {
    Never,
    /// By a flag, with the output padding after it.
    Flag(usize),
    /// Always, with the output padding there.
    Always(usize),
}

const fn forward(stride: usize, padding: usize, dilation: usize, groups: usize) -> ConvolutionForward {
    ConvolutionForward {
        stride,
        padding,
        dilation: Some(dilation),
        transposed: TransposedFlag::Never,
        groups: Some(groups),
    }
}

static FORWARD: &[(&str, ConvolutionForward)] = &[
    ("aten::convolution", ConvolutionForward { transposed: TransposedFlag::Flag(6), ..forward(3, 4, 5, 8) }),
    ("aten::_convolution", ConvolutionForward { transposed: TransposedFlag::Flag(6), ..forward(3, 4, 5, 8) }),
    (
        "aten::convolution_overrideable",
        ConvolutionForward { transposed: TransposedFlag::Flag(6), ..forward(3, 4, 5, 8) },
    ),
    ("aten::cudnn_convolution", forward(3, 2, 4, 5)),
    ("aten::cudnn_convolution_relu", forward(3, 4, 5, 6)),
    (
        "aten::cudnn_convolution_transpose",
        ConvolutionForward { transposed: TransposedFlag::Always(3), ..forward(4, 2, 5, 6) },
    ),
    ("aten::miopen_convolution", forward(4, 3, 5, 6)),
    ("aten::miopen_depthwise_convolution", forward(4, 3, 5, 6)),
    ("aten::miopen_convolution_relu", forward(3, 4, 5, 6)),
    (
        "aten::miopen_convolution_transpose",
        ConvolutionForward { transposed: TransposedFlag::Always(4), ..forward(5, 3, 6, 7) },
    ),
    ("aten::mkldnn_convolution", forward(4, 3, 5, 6)),
    ("aten::_conv_depthwise2d", ConvolutionForward { groups: None, ..forward(4, 5, 6, 0) }),
    ("aten::conv_depthwise3d", ConvolutionForward { groups: None, ..forward(4, 5, 6, 0) }),
    ("aten::_slow_conv2d_forward", ConvolutionForward { dilation: None, groups: None, ..forward(4, 5, 0, 0) }),
    ("aten::slow_conv_dilated2d", ConvolutionForward { groups: None, ..forward(4, 5, 6, 0) }),
    ("aten::slow_conv3d_forward", ConvolutionForward { dilation: None, groups: None, ..forward(4, 5, 0, 0) }),
];

/// Where a backward convolution says which gradients it computes; gradient, input and weight come
/// first.
static BACKWARD: &[(&str, ConvolutionBackward)] = &[
    ("aten::convolution_backward", ConvolutionBackward { transposed: 7, mask: 10 }),
    ("aten::convolution_backward_overrideable", ConvolutionBackward { transposed: 6, mask: 9 }),
];

#[derive(Debug, Clone, Copy)]
struct ConvolutionBackward {
    transposed: usize,
    mask: usize,
}

pub(super) fn is_known(name: &str) -> bool {
    entry(FORWARD, name).is_some() || entry(BACKWARD, name).is_some()
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    entry(FORWARD, name)
        .map_or_else(|| backward_cost(entry(BACKWARD, name)?, call), |forward| forward_cost(forward, call))
}

fn forward_cost(forward: ConvolutionForward, call: &OperatorCall) -> Option<OperatorCost> {
    let (input, weight) = (call.tensor(0)?, call.tensor(1)?);
    let is_transposed = match forward.transposed {
        TransposedFlag::Never => false,
        TransposedFlag::Flag(at) => call.flag(at),
        TransposedFlag::Always(_) => true,
    };
    let shape = result(forward, call, is_transposed)?;
    let num_elems = product(&shape);
    let taps = taps(&weight.shape)?;
    let flops = if is_transposed { input.num_elems() } else { num_elems }.saturating_mul(taps).saturating_mul(2);
    let bytes = call.read_bytes().saturating_add(num_elems.saturating_mul(input.dtype.bytes));
    Some(OperatorCost { flops, bytes, dtype: input.dtype })
}

fn backward_cost(backward: ConvolutionBackward, call: &OperatorCall) -> Option<OperatorCost> {
    let (gradient, input, weight) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let mask = call.value(backward.mask)?.as_array()?;
    let is_wanted = |at: usize| mask.get(at).and_then(serde_json::Value::as_bool).unwrap_or(false);
    let num_summed = if call.flag(backward.transposed) { input } else { gradient }.num_elems();
    let one = num_summed.saturating_mul(taps(&weight.shape)?).saturating_mul(2);
    let bias = gradient.shape.get(1).map_or(0, |channels| channels.saturating_mul(gradient.dtype.bytes));
    let wanted = [
        (is_wanted(0), one, input.rewritten_bytes()),
        (is_wanted(1), one, weight.rewritten_bytes()),
        (is_wanted(2), 0, bias),
    ];
    let wanted = wanted.into_iter().filter(|(is_wanted, ..)| *is_wanted);
    let (flops, written) = wanted
        .fold((0_i64, 0_i64), |sum, (_, flops, bytes)| (sum.0.saturating_add(flops), sum.1.saturating_add(bytes)));
    Some(OperatorCost { flops, bytes: call.read_bytes().saturating_add(written), dtype: input.dtype })
}

/// How many products are summed for an element: channels of a group times taps.
fn taps(weight: &[i64]) -> Option<i64> {
    weight.split_first().map(|(_, rest)| product(rest))
}

fn result(forward: ConvolutionForward, call: &OperatorCall, is_transposed: bool) -> Option<Vec<i64>> {
    let (input, weight) = (&call.tensor(0)?.shape, &call.tensor(1)?.shape);
    let num_dims = weight.len().checked_sub(2)?;
    let spatial = input.len().checked_sub(num_dims)?;
    let stride = each(call.integers(forward.stride)?, num_dims)?;
    let padding = each(call.integers(forward.padding)?, num_dims)?;
    let dilation = each(forward.dilation.map_or(Some(vec![1]), |at| call.integers(at))?, num_dims)?;
    let groups = forward.groups.and_then(|at| call.integers(at)).and_then(|all| all.first().copied()).unwrap_or(1);
    let extra = match forward.transposed {
        TransposedFlag::Never => None,
        TransposedFlag::Flag(at) => call.integers(at + 1),
        TransposedFlag::Always(at) => call.integers(at),
    };
    let extra = each(extra.filter(|_| is_transposed).unwrap_or_else(|| vec![0]), num_dims)?;
    let channels = if is_transposed { weight[1].saturating_mul(groups) } else { weight[0] };
    let mut shape: Vec<_> = input[..spatial.saturating_sub(1)].iter().copied().chain([channels]).collect();
    for at in 0..num_dims {
        let reach = dilation[at].saturating_mul(weight[at + 2].saturating_sub(1));
        let size = input[spatial + at];
        let own = if is_transposed {
            let grown = size.saturating_sub(1).saturating_mul(stride[at]).saturating_add(reach);
            grown.saturating_sub(padding[at].saturating_mul(2)).saturating_add(extra[at]).saturating_add(1)
        } else {
            let left = size.saturating_add(padding[at].saturating_mul(2)).saturating_sub(reach).saturating_sub(1);
            left.checked_div(stride[at])?.saturating_add(1)
        };
        shape.push(own.max(0));
    }
    Some(shape)
}

/// A value for each dimension; one is for all.
fn each(values: Vec<i64>, num_dims: usize) -> Option<Vec<i64>> {
    match values.as_slice() {
        [one] => Some(vec![*one; num_dims]),
        all if all.len() == num_dims => Some(values),
        _ => None,
    }
}
