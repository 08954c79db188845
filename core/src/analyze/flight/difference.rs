//! Differences between the calls of one collective.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::call::{CallStatus, FlightCall, FlightCalls, FlightCollective};
use super::operation::FlightOperation;
use super::problem::FlightProblem;
use super::rank_words::rank_words;
use super::shapes::{holds_all, sizes, total};
use crate::flight::FlightEntry;
use crate::id::StrId;
use crate::trace::collective::CollectivePattern;

/// Longer values are cut in messages.
const MAX_CHARS: usize = 60;

/// The states of a call in order.
const STATES: [&str; 3] = ["scheduled", "started", "completed"];

/// A difference, with the ranks that differ from the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlightDifference {
    pub(super) problem: FlightProblem,
    /// Ascending; none where no rank can be told from the others.
    pub(super) ranks: Vec<i64>,
    pub(super) message: String,
}

/// Values with the ranks that have them.
type ByValue<'a> = Vec<(Cow<'a, str>, Vec<i64>)>;

impl FlightCalls {
    /// All differences between the calls of a collective, the gravest first.
    pub(super) fn differences(&self, collective: &FlightCollective) -> Vec<FlightDifference> {
        let parts: Vec<&[FlightCall]> = self.by_dump(collective).collect();
        let known = self.with_known_kind(collective);
        let kinds = by_value(known.iter().map(|calls| (self.rank(calls), self.kind(calls))));
        let mut all: Vec<_> = self.missing(collective, &kinds).into_iter().collect();
        if kinds.len() > 1 {
            all.push(unequal(FlightProblem::Type, "", kinds));
        } else {
            let num_ops = known.first().map_or(0, |calls| calls.len());
            let step = |at: usize| known.iter().filter_map(|calls| calls.get(at)).collect::<Vec<_>>();
            let steps: Vec<_> = (0..num_ops).map(step).collect();
            all.extend(steps.iter().find_map(|calls| self.size_difference(collective, calls)));
            all.extend(steps.iter().find_map(|calls| self.type_difference(calls)));
        }
        all.extend(self.state_difference(collective, &parts));
        all
    }

    fn rank(&self, calls: &[FlightCall]) -> i64 {
        calls.first().map_or(-1, |call| self.dump(call).rank)
    }

    fn missing(&self, collective: &FlightCollective, kinds: &ByValue<'_>) -> Option<FlightDifference> {
        let ranks = self.ranks_with(collective, CallStatus::Missing);
        let kind = kinds.first().map_or(Cow::Borrowed("it"), |(kind, _)| cut(kind));
        let message = format!("{} never enqueued {kind}", rank_words(&ranks));
        (!ranks.is_empty()).then_some(FlightDifference { problem: FlightProblem::Missing, ranks, message })
    }

    /// The values of a field by rank, without unknown ones.
    fn values(&self, calls: &[&FlightCall], get: fn(&FlightEntry) -> StrId) -> ByValue<'_> {
        let values = calls.iter().map(|call| (self.dump(call).rank, self.dump(call).text(get(self.entry(call)))));
        by_value(values.filter(|(_, text)| !text.is_empty()).map(|(rank, text)| (rank, Cow::Borrowed(text))))
    }

    fn size_difference(&self, collective: &FlightCollective, calls: &[&FlightCall]) -> Option<FlightDifference> {
        let operation = self.operation(calls.first()?);
        let inputs = operation.has_equal_inputs().then(|| self.values(calls, |entry| entry.input_shapes));
        let outputs = operation.has_equal_outputs().then(|| self.values(calls, |entry| entry.output_shapes));
        several(inputs)
            .map(|by| unequal(FlightProblem::Size, "inputs of ", by))
            .or_else(|| several(outputs).map(|by| unequal(FlightProblem::Size, "outputs of ", by)))
            .or_else(|| self.own_size_difference(collective, calls, operation))
            .or_else(|| self.exchanged_difference(collective, calls, operation))
    }

    /// Ranks whose inputs and outputs do not fit each other.
    fn own_size_difference(
        &self,
        collective: &FlightCollective,
        calls: &[&FlightCall],
        operation: FlightOperation<'_>,
    ) -> Option<FlightDifference> {
        let pattern = operation.pattern()?;
        let size = self.group(collective).size();
        let fits = |[inputs, outputs]: [&str; 2]| match pattern {
            CollectivePattern::AllReduce => {
                Some(inputs == outputs).filter(|_| !inputs.is_empty() && !outputs.is_empty())
            }
            _ if !operation.has_equal_inputs() => None,
            CollectivePattern::AllGather => holds_all(&sizes(outputs)?, &sizes(inputs)?, size?),
            CollectivePattern::ReduceScatter => holds_all(&sizes(inputs)?, &sizes(outputs)?, size?),
            _ => None,
        };
        let unfit = select(calls, |call| self.shapes(call), |shapes| fits(*shapes) == Some(false));
        let [inputs, outputs] = self.shapes(unfit.first()?);
        let ranks: Vec<_> = unfit.iter().map(|call| self.dump(call).rank).collect();
        let of = size.map_or(String::new(), |size| format!(" of {size} ranks"));
        let message = format!(
            "{}: inputs of {} and outputs of {} do not fit in {}{of}",
            rank_words(&ranks),
            cut(inputs),
            cut(outputs),
            cut(operation.kind)
        );
        Some(FlightDifference { problem: FlightProblem::Size, ranks, message })
    }

    fn shapes(&self, call: &FlightCall) -> [&str; 2] {
        let (dump, entry) = (self.dump(call), self.entry(call));
        [dump.text(entry.input_shapes), dump.text(entry.output_shapes)]
    }

    /// Whether all ranks of an all-to-all together receive as much as they send.
    fn exchanged_difference(
        &self,
        collective: &FlightCollective,
        calls: &[&FlightCall],
        operation: FlightOperation<'_>,
    ) -> Option<FlightDifference> {
        let is_complete = self.group(collective).size() == Some(calls.len() as i64);
        if operation.pattern() != Some(CollectivePattern::AllToAll) || !is_complete {
            return None;
        }
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for call in calls {
            // Early versions wrote no sizes.
            let [inputs, outputs] = self.shapes(call).map(|shapes| sizes(shapes).filter(|sizes| !sizes.is_empty()));
            sent.push(total(&inputs?)?);
            received.push(total(&outputs?)?);
        }
        let (sent, received) = (total(&sent)?, total(&received)?);
        let message = format!("all ranks send {sent} elements and receive {received}");
        let difference = FlightDifference { problem: FlightProblem::Size, ranks: Vec::new(), message };
        (sent != received).then_some(difference)
    }

    fn type_difference(&self, calls: &[&FlightCall]) -> Option<FlightDifference> {
        let operation = self.operation(calls.first()?);
        let inputs = operation.has_equal_input_types().then(|| self.values(calls, |entry| entry.input_types));
        let outputs = operation.has_equal_output_types().then(|| self.values(calls, |entry| entry.output_types));
        several(inputs.map(types_alone))
            .map(|by| unequal(FlightProblem::Dtype, "inputs of type ", by))
            .or_else(|| {
                several(outputs.map(types_alone)).map(|by| unequal(FlightProblem::Dtype, "outputs of type ", by))
            })
            .or_else(|| self.own_type_difference(calls, operation))
    }

    /// Ranks whose outputs have another type than their inputs.
    fn own_type_difference(&self, calls: &[&FlightCall], operation: FlightOperation<'_>) -> Option<FlightDifference> {
        if !operation.keeps_type() {
            return None;
        }
        let types = |call: &FlightCall| {
            let (dump, entry) = (self.dump(call), self.entry(call));
            [dump.text(entry.input_types), dump.text(entry.output_types)]
        };
        let differ = |types: &[&str; 2]| {
            let [inputs, outputs] = types.map(type_names);
            inputs.zip(outputs).is_some_and(|(inputs, outputs)| inputs != outputs)
        };
        let those = select(calls, types, differ);
        let [inputs, outputs] = types(those.first()?).map(|types| type_names(types).unwrap_or_default());
        let ranks: Vec<_> = those.iter().map(|call| self.dump(call).rank).collect();
        let has = has(&ranks);
        let message = format!(
            "{} {has} inputs of type {} and outputs of type {}",
            rank_words(&ranks),
            cut(&inputs),
            cut(&outputs)
        );
        Some(FlightDifference { problem: FlightProblem::Dtype, ranks, message })
    }

    fn state_difference(&self, collective: &FlightCollective, parts: &[&[FlightCall]]) -> Option<FlightDifference> {
        let state = |calls: &[FlightCall]| {
            let state = self.state(calls.last()?)?;
            let place = STATES.iter().position(|known| *known == state)?;
            Some((place, self.rank(calls)))
        };
        let mut ranks: [Vec<i64>; STATES.len()] = Default::default();
        parts.iter().filter_map(|calls| state(calls)).for_each(|(place, rank)| ranks[place].push(rank));
        let words = |(state, ranks): (&&str, &Vec<i64>)| format!("{state} on {}", rank_words(ranks));
        let present: Vec<_> = STATES.iter().zip(&ranks).filter(|(_, ranks)| !ranks.is_empty()).collect();
        let [behind @ .., _] = present.as_slice() else { return None };
        let mut lagging: Vec<i64> = behind.iter().flat_map(|(_, ranks)| ranks.iter().copied()).collect();
        lagging.sort_unstable();
        let known = self.with_known_kind(collective);
        let kind = known.first().and_then(|calls| calls.last()).map_or("the call", |call| self.operation(call).kind);
        let message =
            format!("{} is {}", cut(kind), present.iter().copied().rev().map(words).collect::<Vec<_>>().join(", "));
        (!lagging.is_empty()).then_some(FlightDifference { problem: FlightProblem::State, ranks: lagging, message })
    }
}

/// Ranks by their values: the value of most ranks first, or else that of the lowest rank.
fn by_value<'a>(values: impl Iterator<Item = (i64, Cow<'a, str>)>) -> ByValue<'a> {
    let mut all: BTreeMap<Cow<'a, str>, Vec<i64>> = BTreeMap::new();
    for (rank, value) in values {
        all.entry(value).or_default().push(rank);
    }
    let mut all: ByValue<'a> = all.into_iter().collect();
    all.sort_by_key(|(_, ranks)| (std::cmp::Reverse(ranks.len()), ranks.first().copied()));
    all
}

/// A difference between values; the ranks without the first value differ.
fn unequal(problem: FlightProblem, noun: &str, by: ByValue<'_>) -> FlightDifference {
    let words = |(value, ranks): &(Cow<'_, str>, Vec<i64>)| {
        format!("{} {} {noun}{}", rank_words(ranks), has(ranks), cut(value))
    };
    let most = by.first().map(words).unwrap_or_default();
    let others: Vec<_> = by.iter().skip(1).map(words).collect();
    let mut ranks: Vec<i64> = by.into_iter().skip(1).flat_map(|(_, ranks)| ranks).collect();
    ranks.sort_unstable();
    FlightDifference { problem, ranks, message: format!("{} where {most}", others.join(", ")) }
}

/// The calls whose value is wanted. Most ranks have the same value as the rank before.
fn select<'c, T: PartialEq>(
    calls: &[&'c FlightCall],
    value: impl Fn(&'c FlightCall) -> T,
    is_wanted: impl Fn(&T) -> bool,
) -> Vec<&'c FlightCall> {
    let mut last: Option<(T, bool)> = None;
    let mut all = Vec::new();
    for call in calls {
        let value = value(call);
        let known = last.take().filter(|(known, _)| *known == value);
        let (value, is_one) = known.unwrap_or_else(|| {
            let is_one = is_wanted(&value);
            (value, is_one)
        });
        all.extend(is_one.then_some(*call));
        last = Some((value, is_one));
    }
    all
}

/// Values that differ.
fn several(by: Option<ByValue<'_>>) -> Option<ByValue<'_>> {
    by.filter(|by| by.len() > 1)
}

fn has(ranks: &[i64]) -> &'static str {
    if ranks.len() == 1 { "has" } else { "have" }
}

/// The same with each list of types as a set, and without empty ones.
fn types_alone(by: ByValue<'_>) -> ByValue<'_> {
    if by.len() < 2 {
        return by;
    }
    let each = by.into_iter().filter_map(|(value, ranks)| Some((type_names(&value)?, ranks)));
    let mut all: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (value, ranks) in each {
        all.entry(value).or_default().extend(ranks);
    }
    all.values_mut().for_each(|ranks| ranks.sort_unstable());
    let mut all: ByValue<'_> = all.into_iter().map(|(value, ranks)| (Cow::Owned(value), ranks)).collect();
    all.sort_by_key(|(_, ranks)| (std::cmp::Reverse(ranks.len()), ranks.first().copied()));
    all
}

/// The different types of a JSON list, joined; `None` for an empty or unknown list.
fn type_names(types: &str) -> Option<String> {
    let mut types: Vec<String> = serde_json::from_str(types).ok()?;
    types.sort_unstable();
    types.dedup();
    (!types.is_empty()).then(|| types.join(", "))
}

/// A value, cut where it is long.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => Cow::Borrowed(text),
    }
}
