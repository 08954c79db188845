//! Aligns the times of several traces.

use serde_json::Value;

use super::fields::RequestField;
use super::session_trace::{SessionTrace, members};
use crate::time::{TimeRange, Ts};

/// The events that share a position on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TimeAlignment {
    /// Equal real time: the ends of collectives compare the clocks. Traces too far apart for one
    /// screen begin together.
    #[default]
    Clocks,
    /// Equal recorded time.
    Recorded,
    /// The first events.
    Start,
    /// The starts of the iteration with this number; of a trace that does not have it, its first
    /// event.
    Iteration(i64),
}

impl RequestField for TimeAlignment {
    const NOUN: &'static str = "clocks, recorded, start or an iteration";

    fn of(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some("clocks") => Some(Self::Clocks),
            Some("recorded") => Some(Self::Recorded),
            Some("start") => Some(Self::Start),
            _ => value.get("iteration")?.as_i64().map(Self::Iteration),
        }
    }
}

impl TimeAlignment {
    /// The time of each part's clock that the screen calls 0; the earliest event of all lies there.
    /// `clocks` are the nanoseconds by which each clock is ahead, and are asked for where they
    /// matter.
    pub(super) fn zeros(self, parts: &[SessionTrace], clocks: impl FnOnce() -> Vec<i64>) -> Vec<Ts> {
        let (all, parts) = (parts, members(parts));
        let mut anchors: Vec<Ts> = match self {
            Self::Clocks if parts.len() > 1 => {
                let clocks: Vec<_> = clocks().into_iter().map(Ts).collect();
                if are_apart(parts, &clocks) { starts(parts) } else { clocks }
            }
            Self::Clocks | Self::Recorded => vec![Ts(0); parts.len()],
            Self::Start => starts(parts),
            Self::Iteration(number) => parts.iter().map(|part| start_of(part, number)).collect(),
        };
        // A trace of another tool has the clock of its rank.
        let of_rank = |part: &SessionTrace| parts.iter().position(|main| main.rank == part.rank).unwrap_or(0);
        let others = all[parts.len()..].iter().map(|part| anchors.get(of_rank(part)).copied().unwrap_or_default());
        anchors.extend(others.collect::<Vec<_>>());
        let parts = all;
        let lead = |is_told: fn(&SessionTrace) -> bool| {
            let told = parts.iter().zip(&anchors).filter(|(part, _)| is_told(part));
            told.map(|(part, anchor)| part.range.start.0.saturating_sub(anchor.0)).min()
        };
        // A trace may have points in time alone.
        let lead = lead(|part| !part.linked.trace.events.is_empty())
            .or_else(|| lead(|part| part.range != TimeRange::default()));
        let lead = lead.unwrap_or(0);
        anchors.into_iter().map(|anchor| Ts(anchor.0.saturating_add(lead))).collect()
    }
}

fn starts(parts: &[SessionTrace]) -> Vec<Ts> {
    parts.iter().map(|part| part.range.start).collect()
}

/// Beyond a thousand times its length, a trace would be narrower than a pixel.
const FAR: i128 = 1000;

/// Whether nothing would be seen of traces of different ranks, for the time between them. Those of
/// one rank follow each other.
fn are_apart(parts: &[SessionTrace], clocks: &[Ts]) -> bool {
    let with_time = parts.iter().zip(clocks).filter(|(part, _)| part.range != TimeRange::default());
    let ranges = with_time.map(|(part, clock)| {
        let [start, end] = [part.range.start, part.range.end].map(|time| i128::from(time.0) - i128::from(clock.0));
        (start, end)
    });
    let (mut first, mut last, mut total) = (i128::MAX, i128::MIN, 0);
    for (start, end) in ranges {
        (first, last, total) = (first.min(start), last.max(end), total + end - start);
    }
    parts.iter().all(|part| part.window == 0) && last > first && last - first > FAR * total
}

fn start_of(part: &SessionTrace, number: i64) -> Ts {
    let found = part.linked.links.iterations.iter().find(|iteration| iteration.number == number);
    found.map_or(part.range.start, |iteration| iteration.start)
}
