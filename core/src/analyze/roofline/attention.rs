//! Attention: two products of matrices for each query with the keys that it sees, and five for the gradients, the scores
//! computed again; query, key, value and result once, and their gradients.

use super::call::{Call, Tensor};
use super::mask::Mask;
use super::model::{Cost, entry};

/// In which order the dimensions are.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// Batch, heads, sequence, channels.
    Heads,
    /// Batch, sequence, heads, channels.
    Sequence,
}

/// Where the query is (key and value follow it), where the mask is said to be causal, where its window is said (how far it
/// reaches before, and behind that how far after), whether its last query is beside the last key, and whether it is the gradient.
#[derive(Debug, Clone, Copy)]
struct Attention {
    layout: Layout,
    query: usize,
    causal: usize,
    window: Option<usize>,
    is_from_end: bool,
    is_backward: bool,
}

const fn forward(layout: Layout, causal: usize) -> Attention {
    Attention { layout, query: 0, causal, window: None, is_from_end: false, is_backward: false }
}

/// The gradient of the result comes first.
const fn backward(layout: Layout, causal: usize) -> Attention {
    Attention { query: 1, is_backward: true, ..forward(layout, causal) }
}

/// Flash attention itself: windows, and the last query beside the last key.
const fn flash(attention: Attention, window: usize) -> Attention {
    Attention { window: Some(window), is_from_end: true, ..attention }
}

static ATTENTIONS: &[(&str, Attention)] = &[
    ("aten::_scaled_dot_product_flash_attention", forward(Layout::Heads, 4)),
    ("aten::_scaled_dot_product_flash_attention_for_cpu", forward(Layout::Heads, 4)),
    ("aten::_scaled_dot_product_efficient_attention", forward(Layout::Heads, 6)),
    ("aten::_scaled_dot_product_cudnn_attention", forward(Layout::Heads, 6)),
    ("aten::_scaled_dot_product_fused_attention_overrideable", forward(Layout::Heads, 5)),
    ("aten::_flash_attention_forward", flash(forward(Layout::Sequence, 8), 11)),
    ("aten::_efficient_attention_forward", forward(Layout::Sequence, 9)),
    ("aten::_cudnn_attention_forward", forward(Layout::Heads, 10)),
    ("aten::_scaled_dot_product_flash_attention_backward", backward(Layout::Heads, 11)),
    ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", backward(Layout::Heads, 7)),
    ("aten::_scaled_dot_product_efficient_attention_backward", backward(Layout::Heads, 11)),
    ("aten::_scaled_dot_product_cudnn_attention_backward", backward(Layout::Heads, 14)),
    ("aten::_flash_attention_backward", flash(backward(Layout::Sequence, 11), 15)),
    ("aten::_efficient_attention_backward", backward(Layout::Sequence, 14)),
    ("aten::_cudnn_attention_backward", backward(Layout::Heads, 14)),
    ("flash_attn::_flash_attn_forward", flash(forward(Layout::Sequence, 5), 6)),
    ("flash_attn::_flash_attn_backward", flash(backward(Layout::Sequence, 11), 12)),
    ("aiter::_flash_attn_forward", flash(forward(Layout::Sequence, 5), 6)),
    // Its window is a pair, of which nothing is recorded.
    ("FlashAttnFunc", Attention { is_from_end: true, ..forward(Layout::Sequence, 5) }),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(ATTENTIONS, name).is_some()
}

pub(super) fn cost(name: &str, call: &Call) -> Option<Cost> {
    let attention = entry(ATTENTIONS, name)?;
    let tensor = |at: usize| call.tensor(attention.query + at);
    let (query, key, value) = (tensor(0)?, tensor(1)?, tensor(2)?);
    let (batch, heads, num_queries, channels) = attention.layout.sizes(query)?;
    let (_, _, num_keys, _) = attention.layout.sizes(key)?;
    let (_, _, _, value_channels) = attention.layout.sizes(value)?;
    let seen = attention.mask(call).pairs(num_queries, num_keys);
    let all = batch.saturating_mul(heads).saturating_mul(2).saturating_mul(seen);
    // Forward: scores and result; backward: scores, gradients of query and key; gradients of scores and value.
    let num_channels = if attention.is_backward {
        channels.saturating_mul(3).saturating_add(value_channels.saturating_mul(2))
    } else {
        channels.saturating_add(value_channels)
    };
    let rows = batch.saturating_mul(heads).saturating_mul(num_queries);
    let result = rows.saturating_mul(value_channels).saturating_mul(query.dtype.bytes);
    let once = [query.bytes(), key.bytes(), value.bytes(), result].into_iter().fold(0, i64::saturating_add);
    let bytes = if attention.is_backward { once.saturating_mul(2) } else { once };
    Some(Cost { flops: all.saturating_mul(num_channels), bytes, dtype: query.dtype })
}

impl Attention {
    fn mask(self, call: &Call) -> Mask {
        // The type of a mask, where it is no flag: 2 begins at the last query.
        let is_from_end = self.is_from_end || call.integers(self.causal) == Some(vec![2]);
        let window = |side: usize| {
            let said = self.window.and_then(|at| call.integers(at + side))?;
            said.first().copied().filter(|reach| *reach >= 0)
        };
        let after = if call.flag(self.causal) { Some(0) } else { window(1) };
        Mask { is_from_end, before: window(0), after }
    }
}

impl Layout {
    /// Batch, heads, length and channels.
    fn sizes(self, tensor: &Tensor) -> Option<(i64, i64, i64, i64)> {
        let [batch, a, b, channels] = *tensor.shape.as_slice() else { return None };
        Some(match self {
            Self::Heads => (batch, a, b, channels),
            Self::Sequence => (batch, b, a, channels),
        })
    }
}
