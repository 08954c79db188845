//! Costs of attention. Forward: two matrix products per query and visible key; gradients: five.
//! Query, key, value and result move once, and so do their gradients.

use super::call::{OperatorCall, TensorArgument};
use super::cost::{OperatorCost, entry};
use super::mask::AttentionMask;

/// In which order the dimensions are.
#[derive(Debug, Clone, Copy)]
enum AttentionLayout {
    /// Batch, heads, sequence, channels.
    Heads,
    /// Batch, sequence, heads, channels.
    Sequence,
}

/// Where the query is (key and value follow it), where the mask is said to be causal, where its
/// window is said (how far it reaches before, and behind that how far after), whether its last
/// query is beside the last key, and whether it is the gradient.
#[derive(Debug, Clone, Copy)]
struct AttentionOperands {
    layout: AttentionLayout,
    query: usize,
    causal: usize,
    window: Option<usize>,
    is_from_end: bool,
    is_backward: bool,
}

const fn forward(layout: AttentionLayout, causal: usize) -> AttentionOperands {
    AttentionOperands { layout, query: 0, causal, window: None, is_from_end: false, is_backward: false }
}

/// The gradient of the result comes first.
const fn backward(layout: AttentionLayout, causal: usize) -> AttentionOperands {
    AttentionOperands { query: 1, is_backward: true, ..forward(layout, causal) }
}

/// Flash attention itself: windows, and the last query beside the last key.
const fn flash(attention: AttentionOperands, window: usize) -> AttentionOperands {
    AttentionOperands { window: Some(window), is_from_end: true, ..attention }
}

static ATTENTIONS: &[(&str, AttentionOperands)] = &[
    ("aten::_scaled_dot_product_flash_attention", forward(AttentionLayout::Heads, 4)),
    ("aten::_scaled_dot_product_flash_attention_for_cpu", forward(AttentionLayout::Heads, 4)),
    ("aten::_scaled_dot_product_efficient_attention", forward(AttentionLayout::Heads, 6)),
    ("aten::_scaled_dot_product_cudnn_attention", forward(AttentionLayout::Heads, 6)),
    ("aten::_scaled_dot_product_fused_attention_overrideable", forward(AttentionLayout::Heads, 5)),
    ("aten::_flash_attention_forward", flash(forward(AttentionLayout::Sequence, 8), 11)),
    ("aten::_efficient_attention_forward", forward(AttentionLayout::Sequence, 9)),
    ("aten::_cudnn_attention_forward", forward(AttentionLayout::Heads, 10)),
    ("aten::_scaled_dot_product_flash_attention_backward", backward(AttentionLayout::Heads, 11)),
    ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", backward(AttentionLayout::Heads, 7)),
    ("aten::_scaled_dot_product_efficient_attention_backward", backward(AttentionLayout::Heads, 11)),
    ("aten::_scaled_dot_product_cudnn_attention_backward", backward(AttentionLayout::Heads, 14)),
    ("aten::_flash_attention_backward", flash(backward(AttentionLayout::Sequence, 11), 15)),
    ("aten::_efficient_attention_backward", backward(AttentionLayout::Sequence, 14)),
    ("aten::_cudnn_attention_backward", backward(AttentionLayout::Heads, 14)),
    ("flash_attn::_flash_attn_forward", flash(forward(AttentionLayout::Sequence, 5), 6)),
    ("flash_attn::_flash_attn_backward", flash(backward(AttentionLayout::Sequence, 11), 12)),
    ("aiter::_flash_attn_forward", flash(forward(AttentionLayout::Sequence, 5), 6)),
    // Its window is a pair, of which nothing is recorded.
    ("FlashAttnFunc", AttentionOperands { is_from_end: true, ..forward(AttentionLayout::Sequence, 5) }),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(ATTENTIONS, name).is_some()
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let attention = entry(ATTENTIONS, name)?;
    let tensor = |at: usize| call.tensor(attention.query + at);
    let (query, key, value) = (tensor(0)?, tensor(1)?, tensor(2)?);
    let (batch, heads, num_queries, channels) = attention.layout.sizes(query)?;
    let (_, _, num_keys, _) = attention.layout.sizes(key)?;
    let (_, _, _, value_channels) = attention.layout.sizes(value)?;
    let seen = attention.mask(call).pairs(num_queries, num_keys);
    let all = batch.saturating_mul(heads).saturating_mul(2).saturating_mul(seen);
    // Forward: scores and result; backward: scores, gradients of query and key; gradients of scores
    // and value.
    let num_channels = if attention.is_backward {
        channels.saturating_mul(3).saturating_add(value_channels.saturating_mul(2))
    } else {
        channels.saturating_add(value_channels)
    };
    let rows = batch.saturating_mul(heads).saturating_mul(num_queries);
    let result = rows.saturating_mul(value_channels).saturating_mul(query.dtype.bytes);
    let once = [query.bytes(), key.bytes(), value.bytes(), result].into_iter().fold(0, i64::saturating_add);
    let bytes = if attention.is_backward { once.saturating_mul(2) } else { once };
    Some(OperatorCost { flops: all.saturating_mul(num_channels), bytes, dtype: query.dtype })
}

impl AttentionOperands {
    fn mask(self, call: &OperatorCall) -> AttentionMask {
        // The type of a mask, where it is no flag: 2 begins at the last query.
        let is_from_end = self.is_from_end || call.integers(self.causal) == Some(vec![2]);
        let window = |side: usize| {
            let said = self.window.and_then(|at| call.integers(at + side))?;
            said.first().copied().filter(|reach| *reach >= 0)
        };
        let after = if call.flag(self.causal) { Some(0) } else { window(1) };
        AttentionMask { is_from_end, before: window(0), after }
    }
}

impl AttentionLayout {
    /// Batch, heads, length and channels.
    fn sizes(self, tensor: &TensorArgument) -> Option<(i64, i64, i64, i64)> {
        let [batch, a, b, channels] = *tensor.shape.as_slice() else { return None };
        Some(match self {
            Self::Heads => (batch, a, b, channels),
            Self::Sequence => (batch, b, a, channels),
        })
    }
}
