//! Costs of normalisation: five operations per element, nine for its gradient. Input, result,
//! parameters and statistics move once.

use super::call::{OperatorCall, TensorArgument, product};
use super::cost::{OperatorCost, entry};
use NormalisationKind::{Backward, Forward};
use StatisticsScope::{Channels, Groups, Rows};

/// The scope of statistics.
#[derive(Debug, Clone, Copy)]
enum StatisticsScope {
    /// Rows of the normalised shape, which is said there; mean and deviation of each are results.
    Rows(usize),
    /// Channels; where a flag says so, those of the batch are results, and the running ones are
    /// written.
    Channels(usize),
    /// Groups: their number in a sample, and that of the samples, are said there.
    Groups(usize, usize),
}

#[derive(Debug, Clone, Copy)]
enum NormalisationKind {
    Forward(StatisticsScope),
    /// The gradient of an input that is like the first argument; the weight is there.
    Backward(usize),
}

static NORMALISATIONS: &[(&str, NormalisationKind)] = &[
    ("aten::native_layer_norm", Forward(Rows(1))),
    ("aten::layer_norm", Forward(Rows(1))),
    ("aten::_fused_rms_norm", Forward(Rows(1))),
    ("aten::rms_norm", Forward(Rows(1))),
    ("aten::native_group_norm", Forward(Groups(6, 3))),
    ("aten::native_batch_norm", Forward(Channels(5))),
    ("aten::_native_batch_norm_legit", Forward(Channels(5))),
    ("aten::cudnn_batch_norm", Forward(Channels(5))),
    ("aten::miopen_batch_norm", Forward(Channels(5))),
    ("aten::_batch_norm_with_update", Forward(Channels(usize::MAX))),
    ("aten::_batch_norm_impl_index", Forward(Channels(5))),
    ("aten::batch_norm", Forward(Channels(5))),
    ("aten::native_layer_norm_backward", Backward(5)),
    ("aten::_fused_rms_norm_backward", Backward(4)),
    ("aten::native_group_norm_backward", Backward(4)),
    ("aten::native_batch_norm_backward", Backward(2)),
    ("aten::cudnn_batch_norm_backward", Backward(2)),
    ("aten::miopen_batch_norm_backward", Backward(2)),
    ("aten::batch_norm_backward", Backward(2)),
];

const FORWARD_FLOPS: i64 = 5;
const BACKWARD_FLOPS: i64 = 9;

/// Statistics are in floats, those of doubles in doubles.
const STATISTIC_BYTES: i64 = 4;

pub(super) fn is_known(name: &str) -> bool {
    entry(NORMALISATIONS, name).is_some()
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let input = call.tensor(0)?;
    let (flops, written) = match entry(NORMALISATIONS, name)? {
        Forward(statistics) => (FORWARD_FLOPS, statistics.bytes(call, input)),
        Backward(weight) => {
            (BACKWARD_FLOPS, call.tensor(weight).map_or(0, |weight| weight.rewritten_bytes().saturating_mul(2)))
        }
    };
    Some(OperatorCost {
        flops: input.num_elems().saturating_mul(flops),
        bytes: call.read_bytes().saturating_add(input.rewritten_bytes()).saturating_add(written),
        dtype: input.dtype,
    })
}

impl StatisticsScope {
    /// Bytes of the statistics that are written; 0 where the arguments do not tell.
    fn bytes(self, call: &OperatorCall, input: &TensorArgument) -> i64 {
        let count = match self {
            Self::Rows(at) => {
                let row = call.integers(at).map_or(0, |shape| product(&shape));
                input.num_elems().checked_div(row).unwrap_or(0).saturating_mul(2)
            }
            Self::Groups(in_sample, samples) => {
                let number = |at| call.integers(at).and_then(|all| all.first().copied()).unwrap_or(0);
                number(in_sample).saturating_mul(number(samples)).saturating_mul(2)
            }
            // Mean and deviation of the batch, and the running ones.
            Self::Channels(at) if at == usize::MAX || call.flag(at) => {
                input.shape.get(1).copied().unwrap_or(0).saturating_mul(4)
            }
            Self::Channels(_) => 0,
        };
        count.saturating_mul(STATISTIC_BYTES.max(if input.dtype.name == "float64" { 8 } else { 0 }))
    }
}
