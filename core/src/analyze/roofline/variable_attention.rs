//! Costs of attention over packed sequences of unequal length. No trace records their ends, so
//! bytes are known, and operations are an upper bound.

use super::call::OperatorCall;
use super::cost::{OperatorCost, entry};

/// Positions of the query (key and value follow), the sequence ends (those of the keys follow), the
/// longest length (that of the keys follows), and the causal flag.
#[derive(Debug, Clone, Copy)]
struct VariableAttentionOperands {
    query: usize,
    ends: usize,
    longest: usize,
    causal: usize,
}

impl VariableAttentionOperands {
    /// The gradient of the result comes first.
    fn is_backward(self) -> bool {
        self.query > 0
    }
}

const fn of(query: usize, ends: usize, longest: usize, causal: usize) -> VariableAttentionOperands {
    VariableAttentionOperands { query, ends, longest, causal }
}

static VARIABLES: &[(&str, VariableAttentionOperands)] = &[
    ("aten::_flash_attention_forward", of(0, 3, 5, 8)),
    ("aten::_flash_attention_backward", of(1, 6, 8, 11)),
    ("aten::_efficient_attention_forward", of(0, 4, 6, 9)),
    ("aten::_efficient_attention_backward", of(1, 6, 8, 14)),
    ("flash_attn::_flash_attn_varlen_forward", of(0, 3, 5, 9)),
    ("flash_attn::_flash_attn_varlen_backward", of(1, 9, 11, 15)),
    ("FlashAttnVarlenFunc", of(0, 3, 5, 9)),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(VARIABLES, name).is_some()
}

/// None where the sequences have no ends, but one length.
pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let at = entry(VARIABLES, name)?;
    call.tensor(at.ends)?;
    let tensor = |place: usize| call.tensor(at.query + place);
    let (query, key, value) = (tensor(0)?, tensor(1)?, tensor(2)?);
    let [.., num_queries, heads, channels] = *query.shape.as_slice() else { return None };
    let [.., num_keys, _, _] = *key.shape.as_slice() else { return None };
    let value_channels = value.shape.last().copied()?;
    let longest = |place: usize, all: i64| {
        let said = call.integers(at.longest + place).and_then(|sizes| sizes.first().copied());
        said.filter(|longest| *longest > 0).map_or(all, |longest| longest.min(all))
    };
    let pairs = pairs([num_queries, num_keys], [longest(0, num_queries), longest(1, num_keys)], call.flag(at.causal));
    let num_channels = if at.is_backward() {
        channels.saturating_mul(3).saturating_add(value_channels.saturating_mul(2))
    } else {
        channels.saturating_add(value_channels)
    };
    let result = num_queries.saturating_mul(heads).saturating_mul(value_channels).saturating_mul(query.dtype.bytes);
    let once = [query.bytes(), key.bytes(), value.bytes(), result].into_iter().fold(0, i64::saturating_add);
    Some(OperatorCost {
        flops: pairs.saturating_mul(heads).saturating_mul(2).saturating_mul(num_channels),
        bytes: if at.is_backward() { once.saturating_mul(2) } else { once },
        dtype: query.dtype,
    })
}

/// How many pairs of a query and a key there are at most: no query sees more than the longest keys,
/// nor a key more than the longest queries. With a causal mask, where both are as long, of a
/// sequence of `n` those are `n (n + 1) / 2`.
fn pairs(all: [i64; 2], longest: [i64; 2], is_causal: bool) -> i64 {
    if is_causal && longest[0] == longest[1] {
        let doubled = i128::from(all[0]) * (i128::from(longest[0]) + 1);
        return i64::try_from(doubled / 2).unwrap_or(i64::MAX);
    }
    all[0].saturating_mul(longest[1]).min(all[1].saturating_mul(longest[0]))
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn as_few_sequences_as_may_be_have_the_most_pairs() {
        // Lengths of 4 and 4; of 5 and 3 they are more than could be seen; 1 and 7 queries of 2 and
        // 2 keys.
        assert_eq!(pairs([8, 8], [4, 4], false), 16 + 16);
        assert!(pairs([8, 8], [5, 5], false) >= 25 + 9);
        assert!(pairs([8, 8], [5, 5], true) >= 15 + 6);
        assert!(pairs([8, 4], [7, 2], false) >= 2 + 14);
        assert_eq!(pairs([8, 8], [8, 8], true), 36);
    }
}
