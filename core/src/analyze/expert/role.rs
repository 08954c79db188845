//! Tells dispatches from combines, and numbers the exchanges of an iteration.

use rustc_hash::FxHashMap;

use super::exchange::{Exchange, ExchangeRole};

/// So many exchanges without a counterpart are compared with one.
const MAX_OPEN: usize = 64;

/// The members of a group, its name, and the iteration.
type ExchangeSpan = (Vec<u32>, Option<String>, Option<i64>);

/// Exchanges of one group in one iteration.
#[derive(Default)]
struct OpenExchanges {
    num: i64,
    without_counterpart: Vec<usize>,
}

/// Sets the roles and positions of exchanges, in the order of their calls.
///
/// A combine sends back the rows of the dispatch before it, so its lists are swapped. Several
/// dispatches may come before it: of rows, of their weights.
pub(super) fn set(exchanges: &mut [Exchange<'_>]) {
    let mut spans: FxHashMap<ExchangeSpan, OpenExchanges> = FxHashMap::default();
    for at in 0..exchanges.len() {
        let span = spans.entry(span(&exchanges[at])).or_default();
        exchanges[at].position = span.num;
        span.num += 1;
        let recent = span.without_counterpart.iter().rev().take(MAX_OPEN);
        let Some(dispatch) = recent.copied().find(|before| exchanges[at].is_reverse(&exchanges[*before])) else {
            span.without_counterpart.push(at);
            continue;
        };
        exchanges[at].role = Some(ExchangeRole::Combine);
        let begin = span.without_counterpart.len().saturating_sub(MAX_OPEN);
        let mut left = span.without_counterpart.split_off(begin);
        left.retain(|before| {
            let is_dispatch = exchanges[*before].is_again(&exchanges[dispatch]);
            if is_dispatch {
                exchanges[*before].role = Some(ExchangeRole::Dispatch);
            }
            !is_dispatch
        });
        span.without_counterpart.append(&mut left);
    }
}

fn span(exchange: &Exchange<'_>) -> ExchangeSpan {
    let meeting = &exchange.meeting;
    let members = exchange.parts.iter().map(|part| part.member).collect();
    let iteration = meeting.first().and_then(|part| part.one.iteration(part.linked));
    (members, meeting.any(|part| part.one.group_name(part.linked).map(str::to_owned)), iteration)
}
