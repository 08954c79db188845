//! Attention: two products of matrices for each query with the keys that it sees, and five for the gradients, the scores
//! computed again; query, key, value and result once, and their gradients.

use super::call::{Call, Tensor};
use super::model::{Cost, entry};

/// In which order the dimensions are.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// Batch, heads, sequence, channels.
    Heads,
    /// Batch, sequence, heads, channels.
    Sequence,
}

/// Where the query is (key and value follow it), where the mask is said to be causal, and whether it is the gradient.
#[derive(Debug, Clone, Copy)]
struct Attention {
    layout: Layout,
    query: usize,
    causal: usize,
    is_backward: bool,
}

const fn forward(layout: Layout, causal: usize) -> Attention {
    Attention { layout, query: 0, causal, is_backward: false }
}

/// The gradient of the result comes first.
const fn backward(layout: Layout, causal: usize) -> Attention {
    Attention { layout, query: 1, causal, is_backward: true }
}

static ATTENTIONS: &[(&str, Attention)] = &[
    ("aten::_scaled_dot_product_flash_attention", forward(Layout::Heads, 4)),
    ("aten::_scaled_dot_product_flash_attention_for_cpu", forward(Layout::Heads, 4)),
    ("aten::_scaled_dot_product_efficient_attention", forward(Layout::Heads, 6)),
    ("aten::_scaled_dot_product_cudnn_attention", forward(Layout::Heads, 6)),
    ("aten::_scaled_dot_product_fused_attention_overrideable", forward(Layout::Heads, 5)),
    ("aten::_flash_attention_forward", forward(Layout::Sequence, 8)),
    ("aten::_efficient_attention_forward", forward(Layout::Sequence, 9)),
    ("aten::_cudnn_attention_forward", forward(Layout::Heads, 10)),
    ("aten::_scaled_dot_product_flash_attention_backward", backward(Layout::Heads, 11)),
    ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", backward(Layout::Heads, 7)),
    ("aten::_scaled_dot_product_efficient_attention_backward", backward(Layout::Heads, 11)),
    ("aten::_scaled_dot_product_cudnn_attention_backward", backward(Layout::Heads, 14)),
    ("aten::_flash_attention_backward", backward(Layout::Sequence, 11)),
    ("aten::_efficient_attention_backward", backward(Layout::Sequence, 14)),
    ("aten::_cudnn_attention_backward", backward(Layout::Heads, 14)),
    ("flash_attn::_flash_attn_forward", forward(Layout::Sequence, 5)),
    ("flash_attn::_flash_attn_backward", backward(Layout::Sequence, 11)),
    ("aiter::_flash_attn_forward", forward(Layout::Sequence, 5)),
    ("FlashAttnFunc", forward(Layout::Sequence, 5)),
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
    let seen = seen(num_queries, num_keys, call.flag(attention.causal));
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

/// How many pairs of a query and a key there are; with a causal mask, those of a key no later than its query.
fn seen(num_queries: i64, num_keys: i64, is_causal: bool) -> i64 {
    if !is_causal {
        return num_queries.saturating_mul(num_keys);
    }
    let (queries, keys) = (i128::from(num_queries), i128::from(num_keys));
    let short = queries.min(keys);
    i64::try_from(short * (short + 1) / 2 + (queries - short) * keys).unwrap_or(i64::MAX)
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

#[cfg(test)]
mod tests {
    use super::seen;

    #[test]
    fn a_causal_query_sees_the_keys_up_to_its_own() {
        assert_eq!((seen(4, 4, true), seen(2, 5, true), seen(5, 2, true)), (10, 3, 9));
        assert_eq!(seen(4, 5, false), 20);
    }
}
