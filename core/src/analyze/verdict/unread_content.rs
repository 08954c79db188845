//! Tells which content of a file was not read, by the counts that readers leave in the header.

use super::problem::{Problem, VerdictState};
use crate::sort;
use crate::trace::Trace;

/// How the key of such counts ends in the header.
const UNREAD: &str = "_unread";
/// So many kinds are named.
const MAX_NAMED: usize = 3;
/// Fewer than one record to so many events are not worth a notice.
const MUCH: usize = 100;
/// Letters of a name that are shown.
const MAX_NAME: usize = 60;

/// A remark; where nothing else was read, the recording is not complete.
pub(super) fn problem(trace: &Trace) -> Option<Problem> {
    let mut counts = unread(trace);
    let num_all = counts.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    sort::by(&mut counts, |(one, of_one), (other, of_other)| of_other.cmp(of_one).then_with(|| one.cmp(other)));
    let named = counts.iter().take(MAX_NAMED).map(|(name, count)| format!("{name} ({count})"));
    let mut named: Vec<_> = named.collect();
    if counts.len() > MAX_NAMED {
        named.push(String::from("…"));
    }
    let message = format!("records are not read: {}", named.join(", "));
    let is_empty = trace.events.is_empty() && trace.instants.is_empty() && trace.counters.is_empty();
    let state = if is_empty { VerdictState::Incomplete } else { VerdictState::Complete };
    let count = usize::try_from(num_all).unwrap_or(usize::MAX);
    let problem = Problem::new("unread_content", state, count, message);
    // Some rows of other tables are in every export of a database.
    let is_much = count.saturating_mul(MUCH) > trace.events.len();
    (num_all > 0).then(|| if is_much { problem.noticed() } else { problem })
}

/// Records by kind.
fn unread(trace: &Trace) -> Vec<(String, u64)> {
    let keys = trace.header.iter().map(|(key, _)| trace.strings.text(*key)).filter(|key| key.ends_with(UNREAD));
    let objects = keys.filter_map(|key| trace.header_value(key)).filter_map(|value| value.as_object().cloned());
    let count = |(name, count): (String, serde_json::Value)| {
        let count = count.as_u64().filter(|count| *count > 0)?;
        Some((name.chars().take(MAX_NAME).collect(), count))
    };
    objects.flatten().filter_map(count).collect()
}
