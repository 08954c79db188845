//! Measures the activity of a rank before it reached a collective, from its trace or from the reply
//! of its worker.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::activity::{Activity, DelayCause};
use super::activity_names::{TimeByName, names};
use crate::analyze::collective::Participant;
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::analyze::query::RankQuery;
use crate::analyze::selection::Selection;
use crate::time::{TimeRange, Ts};

/// The time before a rank reached a collective, on its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::analyze) struct ArrivalInterval {
    start_ns: i64,
    end_ns: i64,
    /// The id of the event that called the collective.
    call: Option<u32>,
    /// Whether the activity is wanted by name.
    is_named: bool,
}

/// The activity of a rank during an interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::analyze) struct IntervalActivity {
    interval: ArrivalInterval,
    during: [i64; DelayCause::ALL.len()],
    names: Vec<BTreeMap<String, i64>>,
}

/// Asks a rank for its activity during intervals.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::analyze) struct ActivityQuery(pub(in crate::analyze) Vec<ArrivalInterval>);

impl RankQuery for ActivityQuery {
    const NAME: &'static str = "activity";

    type Reply = Vec<IntervalActivity>;

    fn respond(self, selection: &Selection<'_>, _: &Options) -> Vec<IntervalActivity> {
        let (activity, linked) = (Activity::of(selection), selection.linked);
        let during = |interval: ArrivalInterval| {
            let call = interval.call.and_then(|id| linked.trace.events.row_at(id)).map(|row| row as u32);
            let owned = |names: TimeByName<'_>| names.into_iter().map(|(name, ns)| (name.into_owned(), ns)).collect();
            let names = |cause: &DelayCause| {
                if interval.is_named { owned(names(*cause, linked, call, interval.span())) } else { BTreeMap::new() }
            };
            IntervalActivity {
                interval,
                during: activity.during(interval.span()),
                names: DelayCause::ALL.iter().map(names).collect(),
            }
        };
        self.0.into_iter().map(during).collect()
    }
}

impl ArrivalInterval {
    pub(super) fn of(part: &Participant<'_>, span: TimeRange, is_named: bool) -> Self {
        let call = part.one.event.or(part.one.run);
        let call = call.map(|row| part.linked.trace.events.position.at(row as usize));
        Self { start_ns: span.start.0, end_ns: span.end.0, call, is_named }
    }

    fn key(&self) -> IntervalKey {
        (self.start_ns, self.end_ns, self.call)
    }

    fn span(&self) -> TimeRange {
        TimeRange { start: Ts(self.start_ns), end: Ts(self.end_ns) }
    }
}

/// The replies about a rank, by interval.
type ActivityByInterval<'a> = FxHashMap<IntervalKey, &'a IntervalActivity>;

/// An interval without its options: start, end, id of the call.
type IntervalKey = (i64, i64, Option<u32>);

/// The activity of all ranks of a job.
pub(super) enum RankActivities<'a> {
    /// Computed from local traces.
    Local(Vec<Activity>),
    /// Replied by workers, for each member.
    Replied(Vec<ActivityByInterval<'a>>),
}

impl<'a> RankActivities<'a> {
    pub(super) fn of(job: &'a Job<'_>) -> Self {
        match job.replies::<ActivityQuery>() {
            Some(replies) => {
                let by_interval = |reply: Option<&'a Vec<IntervalActivity>>| {
                    // An interval may be asked for twice; its reply with names is the last.
                    let mut all: Vec<_> = reply.into_iter().flatten().collect();
                    crate::sort::by_key(&mut all, |activity| activity.interval.is_named);
                    all.into_iter().map(|activity| (activity.interval.key(), activity)).collect()
                };
                Self::Replied(replies.into_iter().map(by_interval).collect())
            }
            None if job.parts.len() > 1 => Self::Local(job.each(|_, part| Activity::of(part))),
            None => Self::Local(Vec::new()),
        }
    }

    fn reply(&self, part: &Participant<'_>, span: TimeRange) -> Option<&'a IntervalActivity> {
        let Self::Replied(replies) = self else { return None };
        replies.get(part.member as usize)?.get(&ArrivalInterval::of(part, span, false).key()).copied()
    }

    /// Nanoseconds of each cause during a participant's interval.
    pub(super) fn during(&self, part: &Participant<'_>, span: TimeRange) -> Option<[i64; DelayCause::ALL.len()]> {
        match self {
            Self::Local(activities) => Some(activities.get(part.member as usize)?.during(span)),
            Self::Replied(_) => Some(self.reply(part, span)?.during),
        }
    }

    /// Nanoseconds by name of the events of one cause during a participant's interval.
    pub(super) fn names<'b>(&self, cause: DelayCause, part: &Participant<'b>, span: TimeRange) -> TimeByName<'b>
    where
        'a: 'b,
    {
        match self {
            Self::Local(_) => names(cause, part.linked, part.one.event.or(part.one.run), span),
            Self::Replied(_) => {
                let reply = self.reply(part, span).and_then(|activity| activity.names.get(cause as usize));
                reply.into_iter().flatten().map(|(name, ns)| (Cow::Borrowed(name.as_str()), *ns)).collect()
            }
        }
    }
}
