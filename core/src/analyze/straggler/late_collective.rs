//! Late arrivals at collectives: the late rank, the waits of others, and the cause.

use rustc_hash::FxHashMap;

use super::activity::DelayCause;
use super::culprit::culprit;
use super::interval_activity::{ArrivalInterval, RankActivities};
use super::pipeline::{Pipelines, is_message};
use crate::analyze::collective::{JobCollective, Participant};
use crate::analyze::statistics::median;
use crate::table::{Column, Table, int, put_name, text};
use crate::time::{TimeRange, Ts, sum_ns};

/// A communication that others waited at for the last rank.
#[derive(Debug, Clone)]
pub(crate) struct LateArrival {
    /// The member that came last.
    pub(super) member: u32,
    pub(super) rank: Option<i64>,
    pub(super) collective_id: Option<u32>,
    collective: Option<String>,
    group_name: Option<String>,
    iteration: Option<i64>,
    start_ns: i64,
    lateness_ns: i64,
    /// The total wait of the others, in nanoseconds.
    pub(super) caused_wait_ns: i64,
    /// The cause, and its excess over the other ranks.
    pub(super) cause: Option<(DelayCause, i64)>,
    name: Option<(String, i64)>,
    /// The member that waited for a message.
    pub(super) receiver: Option<u32>,
}

pub(crate) static TABLE: Table<Vec<LateArrival>> = Table {
    name: "late_arrivals",
    doc: "a collective at which other ranks waited for the last one",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<LateArrival>>] = &[
    int("rank", |rows, at| rows[at].rank),
    int("collective_id", |rows, at| rows[at].collective_id.map(i64::from)),
    text("collective", |rows, at, out| rows[at].collective.as_ref().is_some_and(|name| put_name(out, name))),
    text("group_name", |rows, at, out| rows[at].group_name.as_ref().is_some_and(|name| put_name(out, name))),
    int("iteration", |rows, at| rows[at].iteration),
    int("start_ns", |rows, at| Some(rows[at].start_ns)),
    int("lateness_ns", |rows, at| Some(rows[at].lateness_ns)),
    int("caused_wait_ns", |rows, at| Some(rows[at].caused_wait_ns)),
    text("cause", |rows, at, out| rows[at].cause.is_some_and(|(cause, _)| put_name(out, cause.name()))),
    int("cause_ns", |rows, at| Some(rows[at].cause?.1)),
    text("name", |rows, at, out| rows[at].name.as_ref().is_some_and(|(name, _)| put_name(out, name))),
    int("excess_ns", |rows, at| Some(rows[at].name.as_ref()?.1)),
];

/// A late arrival with the times in which ranks came to it, each since the communication before, on
/// its own clock.
pub(super) struct LateCollective<'a, 'b> {
    pub(super) arrival: LateArrival,
    parts: &'b [Participant<'a>],
    spans: Vec<TimeRange>,
}

/// Of which communication of the same traces each is the next, by places among `meetings`.
pub(super) fn previous(meetings: &[JobCollective<'_>]) -> Vec<Option<usize>> {
    let mut last: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    let place = |(at, meeting): (usize, &JobCollective<'_>)| {
        last.insert(meeting.parts.iter().map(|part| part.member).collect(), at)
    };
    meetings.iter().enumerate().map(place).collect()
}

impl<'a, 'b> LateCollective<'a, 'b> {
    /// The communication, where the last rank made others wait.
    ///
    /// Divides each rank's time before the collective by [`Activity`](super::activity::Activity).
    /// That time runs from the previous collective of the same ranks, or else from the start of the
    /// iteration, to the rank's arrival. The cause is the largest excess of the last rank over the
    /// median of the others. There is none if the excess is below half of the lateness.
    ///
    /// Of the wait for a message, only what exceeds the pipeline's schedule counts (see
    /// [`Pipelines`]).
    pub(super) fn of(
        meeting: &'b JobCollective<'a>,
        before: Option<&JobCollective<'_>>,
        did: &RankActivities<'_>,
        pipelines: &Pipelines,
    ) -> Option<Self> {
        let (_, last) = meeting.ends()?;
        let caused_wait_ns = sum_ns(meeting.waits_ns()?);
        let (came, start) = (last.came?, last.start?);
        if caused_wait_ns == 0 {
            return None;
        }
        let others = |part: &&Participant<'_>| part.member != last.member;
        let median_start = median(meeting.parts.iter().filter(others).filter_map(|part| Some(part.start?.0)));
        let is_message = is_message(meeting);
        let spans = if is_message {
            let span = |part: &Participant<'_>| pipelines.work_span(part);
            meeting.parts.iter().map(span).collect::<Option<_>>().unwrap_or_default()
        } else {
            spans(&meeting.parts, before).unwrap_or_default()
        };
        let receiver = meeting.parts.iter().find(|part| is_message && part.member != last.member);
        let mut late = Self {
            arrival: LateArrival {
                member: last.member,
                rank: last.rank,
                collective_id: meeting.number,
                collective: meeting.any(|part| part.one.name.clone()),
                group_name: meeting.any(|part| part.one.group_name(part.linked).map(str::to_owned)),
                iteration: last.one.iteration(last.linked),
                start_ns: came.0,
                lateness_ns: start.0.saturating_sub(median_start),
                caused_wait_ns,
                cause: None,
                name: None,
                receiver: receiver.map(|part| part.member),
            },
            parts: &meeting.parts,
            spans,
        };
        if is_message {
            late.take_fault(last, did, pipelines);
        } else {
            late.arrival.cause = late.cause(did);
        }
        Some(late).filter(|late| late.arrival.caused_wait_ns > 0)
    }

    /// Whether it is a message between two ranks.
    pub(super) fn is_message(&self) -> bool {
        self.arrival.receiver.is_some()
    }

    /// Of the wait for a message, leaves what is the sender's fault.
    fn take_fault(&mut self, sender: &Participant<'_>, did: &RankActivities<'_>, pipelines: &Pipelines) {
        let span = self.parts.iter().position(|part| part.member == sender.member).and_then(|at| self.spans.get(at));
        let Some(span) = span else {
            self.arrival.caused_wait_ns = 0;
            return;
        };
        if let Some((fault_ns, cause)) = pipelines.fault(sender, *span, did) {
            let ns = self.arrival.caused_wait_ns.min(fault_ns);
            (self.arrival.caused_wait_ns, self.arrival.cause) = (ns, Some((cause, ns)));
        }
    }

    /// The intervals before it of all ranks, by member.
    pub(super) fn intervals(&self, is_named: bool) -> impl Iterator<Item = (u32, ArrivalInterval)> {
        self.parts
            .iter()
            .zip(&self.spans)
            .map(move |(part, span)| (part.member, ArrivalInterval::of(part, *span, is_named)))
    }

    fn cause(&self, did: &RankActivities<'_>) -> Option<(DelayCause, i64)> {
        let during = |(part, span): (&Participant<'_>, &TimeRange)| Some((part.member, did.during(part, *span)?));
        let all: Vec<_> = self.parts.iter().zip(&self.spans).filter_map(during).collect();
        let (_, own) = all.iter().find(|(member, _)| *member == self.arrival.member)?;
        let others = || all.iter().filter(|(member, _)| *member != self.arrival.member);
        let excess = |cause: DelayCause| {
            let usual = median(others().map(|(_, during)| during[cause as usize]));
            (cause, own[cause as usize].saturating_sub(usual))
        };
        // The first of equal ones.
        let most =
            DelayCause::ALL.map(excess).into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
        // A rank that started late was delayed before this interval.
        let usual_ns = median(others().map(|(_, during)| sum_ns(during.iter().copied())));
        let longer_ns = sum_ns(own.iter().copied()).saturating_sub(usual_ns);
        most.filter(|(_, ns)| *ns > 0 && longer_ns >= self.arrival.lateness_ns / 2)
    }

    /// The arrival, with the operator or the kernel that took the most longer on its rank than on
    /// the others.
    pub(super) fn named(mut self, did: &RankActivities<'_>) -> LateArrival {
        // The other side of a message does other work.
        if let Some((cause, _)) = self.arrival.cause.filter(|_| !self.is_message()) {
            self.arrival.name = culprit(cause, self.arrival.member, (self.parts, &self.spans), did);
        }
        self.arrival
    }
}

/// The interval before each participant's arrival.
fn spans(parts: &[Participant<'_>], before: Option<&JobCollective<'_>>) -> Option<Vec<TimeRange>> {
    let left = |at: usize, part: &Participant<'_>| match before {
        Some(before) => {
            let part = before.parts.get(at)?;
            part.one.time(&part.linked.trace).map(|time| time.end).or(part.came)
        }
        None => {
            let at = part.linked.links.iteration.get(part.one.first_event()? as usize)?;
            Some(part.linked.links.iterations[at as usize].start)
        }
    };
    let span = |(at, part): (usize, &Participant<'_>)| {
        let end = part.came?;
        Some(TimeRange { start: left(at, part)?.min(end), end })
    };
    parts.iter().enumerate().map(span).collect()
}

/// When it came, for the order of equal ones.
pub(super) fn came(arrival: &LateArrival) -> Ts {
    Ts(arrival.start_ns)
}
