//! What a rank did on its way to a communication: seen in its trace, or told by whoever has that.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::activity::{Activity, Cause};
use super::culprit::names;
use crate::analyze::afar::Told;
use crate::analyze::collective::Part;
use crate::analyze::job::Job;
use crate::analyze::selection::Selection;
use crate::time::{TimeRange, Ts};

/// Nanoseconds by name.
pub(super) type ByName<'a> = BTreeMap<Cow<'a, str>, i64>;

/// A rank's way to a communication: from when to when, on its own clock, and by which call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::analyze) struct Way {
    start_ns: i64,
    end_ns: i64,
    /// The id of the event that called it.
    call: Option<u32>,
    /// Whether it is asked what ran, by name.
    is_named: bool,
}

/// What a rank did on a way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::analyze) struct Doing {
    way: Way,
    during: [i64; Cause::ALL.len()],
    names: Vec<BTreeMap<String, i64>>,
}

impl Way {
    pub(super) fn of(part: &Part<'_>, span: TimeRange, is_named: bool) -> Self {
        let call = part.one.event.or(part.one.run);
        let call = call.map(|row| part.linked.trace.events.position[row as usize]);
        Self { start_ns: span.start.0, end_ns: span.end.0, call, is_named }
    }

    fn key(&self) -> Key {
        (self.start_ns, self.end_ns, self.call)
    }

    fn span(&self) -> TimeRange {
        TimeRange { start: Ts(self.start_ns), end: Ts(self.end_ns) }
    }
}

/// What the rank of a trace did on these ways.
pub(in crate::analyze) fn doings(part: &Selection<'_>, ways: Vec<Way>) -> Vec<Doing> {
    let (activity, linked) = (Activity::of(part), part.linked);
    let doing = |way: Way| {
        let call = way.call.and_then(|id| linked.trace.events.row_at(id)).map(|row| row as u32);
        let owned = |names: ByName<'_>| names.into_iter().map(|(name, ns)| (name.into_owned(), ns)).collect();
        let names =
            |cause: &Cause| if way.is_named { owned(names(*cause, linked, call, way.span())) } else { BTreeMap::new() };
        Doing { way, during: activity.during(way.span()), names: Cause::ALL.iter().map(names).collect() }
    };
    ways.into_iter().map(doing).collect()
}

/// What a rank was said to have done, by the way on which it did it.
type ByWay<'a> = FxHashMap<Key, &'a Doing>;

/// A way, whatever is asked about it: its start, its end, and the id of its call.
type Key = (i64, i64, Option<u32>);

/// What the ranks of a job did.
pub(super) enum Did<'a> {
    /// In the traces at hand.
    Seen(Vec<Activity>),
    /// By who has them, for each member.
    Told(Vec<ByWay<'a>>),
}

impl<'a> Did<'a> {
    pub(super) fn of(job: &'a Job<'_>) -> Self {
        match job.told(|told| if let Told::Doings(doings) = told { Some(doings) } else { None }) {
            Some(told) => {
                let by_way = |told: Option<&'a Vec<Doing>>| {
                    // Of one way asked for twice, the one with names is last.
                    let mut all: Vec<_> = told.into_iter().flatten().collect();
                    crate::sort::by_key(&mut all, |doing| doing.way.is_named);
                    all.into_iter().map(|doing| (doing.way.key(), doing)).collect()
                };
                Self::Told(told.into_iter().map(by_way).collect())
            }
            None if job.parts.len() > 1 => Self::Seen(job.each(|_, part| Activity::of(part))),
            None => Self::Seen(Vec::new()),
        }
    }

    fn told(&self, part: &Part<'_>, span: TimeRange) -> Option<&'a Doing> {
        let Self::Told(told) = self else { return None };
        told.get(part.member as usize)?.get(&Way::of(part, span, false).key()).copied()
    }

    /// How long each cause had on the way of a part.
    pub(super) fn during(&self, part: &Part<'_>, span: TimeRange) -> Option<[i64; Cause::ALL.len()]> {
        match self {
            Self::Seen(activities) => Some(activities.get(part.member as usize)?.during(span)),
            Self::Told(_) => Some(self.told(part, span)?.during),
        }
    }

    /// What ran on the way of a part, of this cause.
    pub(super) fn names<'b>(&self, cause: Cause, part: &Part<'b>, span: TimeRange) -> ByName<'b>
    where
        'a: 'b,
    {
        match self {
            Self::Seen(_) => names(cause, part.linked, part.one.event.or(part.one.run), span),
            Self::Told(_) => {
                let told = self.told(part, span).and_then(|doing| doing.names.get(cause as usize));
                told.into_iter().flatten().map(|(name, ns)| (Cow::Borrowed(name.as_str()), *ns)).collect()
            }
        }
    }
}
