//! A collective with its participants on all ranks: arrivals, waits and durations.

use crate::link::rank::{JobRanks, MatchMethod};
use crate::link::{Collective, LinkedTrace};
use crate::time::{Ts, sum_ns};
use crate::trace::collective::CollectivePattern;

/// A trace's part in a communication.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Participant<'a> {
    /// The member of the job.
    pub(crate) member: u32,
    /// The rank it is, where that is known.
    pub(crate) rank: Option<i64>,
    /// Its trace.
    pub(crate) linked: &'a LinkedTrace,
    /// The communication as it has it.
    pub(crate) one: &'a Collective,
    /// How long it ran there, in nanoseconds.
    pub(crate) dur_ns: Option<i64>,
    /// When it came, on its own clock.
    pub(crate) came: Option<Ts>,
    /// When it came, on the clock that all are compared by: when it began to run, or else when it
    /// was called.
    pub(crate) start: Option<Ts>,
}

/// A communication, with the part of each trace that has it.
#[derive(Debug)]
pub(crate) struct JobCollective<'a> {
    /// Its number among those that several traces have.
    pub(crate) number: Option<u32>,
    /// The method that matched the participants.
    pub(crate) how: Option<MatchMethod>,
    /// The parts, by member.
    pub(crate) parts: Vec<Participant<'a>>,
}

/// Without whom a part of a communication cannot end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AwaitedParticipant {
    /// The last that comes.
    Last,
    /// The part at this place.
    Part(usize),
    /// It ends by itself.
    Nobody,
}

/// By which clock ranks are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockAlignment {
    /// The one that [`JobRanks`] compares by.
    OfRanks,
    /// With the clocks' offsets taken away, where those of all parts are known.
    AlignedWhereKnown,
}

/// The collectives whose first part `is_wanted`, in the order of the first trace with each.
pub(crate) fn job_collectives(
    ranks: &JobRanks,
    clocks: ClockAlignment,
    is_wanted: impl Fn(usize, &Collective) -> bool,
) -> Vec<JobCollective<'_>> {
    let mut all = Vec::new();
    for (member, trace) in ranks.members.iter().enumerate() {
        for (row, one) in trace.collectives().rows.iter().enumerate() {
            let own = (member as u32, row as u32);
            let shared = ranks.shared_of(member, row);
            let is_first = shared.is_none_or(|(_, shared)| shared.rows.first() == Some(&own));
            if one.is_local || !is_first || !is_wanted(member, one) {
                continue;
            }
            let rows = shared.map_or(std::slice::from_ref(&own), |(_, shared)| shared.rows.as_slice());
            let (number, how) = shared.map(|(number, shared)| (number, shared.how)).unzip();
            all.push(JobCollective { number, how, parts: parts(ranks, rows, clocks) });
        }
    }
    all
}

fn parts<'a>(ranks: &'a JobRanks, rows: &[(u32, u32)], clocks: ClockAlignment) -> Vec<Participant<'a>> {
    let told = |(member, row): &(u32, u32)| ranks.members[*member as usize].start(*row as usize);
    // A call and a kernel do not compare.
    let is_run = rows.first().and_then(told).map(|(is_run, _)| is_run);
    let is_alike = rows.iter().all(|row| told(row).map(|(is_run, _)| is_run) == is_run);
    let clock = |row: &(u32, u32)| ranks.members[row.0 as usize].clock;
    let is_known = rows.iter().all(|row| clock(row).is_some());
    let do_compare = ranks.do_clocks_compare(rows);
    let offset_ns = |row: &(u32, u32)| match clocks {
        ClockAlignment::OfRanks => ranks.offset_ns(row.0 as usize).filter(|_| do_compare || !ranks.is_aligned()),
        ClockAlignment::AlignedWhereKnown if !is_known => Some(0),
        ClockAlignment::AlignedWhereKnown => clock(row).filter(|_| do_compare).map(|clock| clock.offset_ns),
    };
    let part = |at: &(u32, u32)| {
        let member = &ranks.members[at.0 as usize];
        let (linked, one) = (&*member.linked, member.collective(at.1 as usize));
        let start = told(at).filter(|_| is_alike).zip(offset_ns(at));
        Participant {
            member: at.0,
            came: told(at).map(|(_, start)| start),
            rank: member.rank,
            linked,
            one,
            dur_ns: one.time(&linked.trace).map(|time| time.dur().0),
            start: start.map(|((_, start), ahead_ns)| Ts(start.0.saturating_sub(ahead_ns))),
        }
    };
    rows.iter().map(part).collect()
}

impl<'a> JobCollective<'a> {
    /// The participant whose record names the collective.
    pub(crate) fn first(&self) -> Option<&Participant<'a>> {
        self.parts.first()
    }

    /// When the first rank came and when the last, where there are several and they compare.
    pub(crate) fn arrivals(&self) -> Option<(Ts, Ts)> {
        let starts = self.parts.iter().map(|part| part.start);
        let starts: Vec<_> = starts.collect::<Option<_>>()?;
        (starts.len() > 1).then_some(())?;
        Some((*starts.iter().min()?, *starts.iter().max()?))
    }

    /// The part that came first and the one that came last, where not all came at once.
    pub(crate) fn ends(&self) -> Option<(&Participant<'a>, &Participant<'a>)> {
        let (first, last) = self.arrivals().filter(|(first, last)| first < last)?;
        let came_at = |time: Ts| self.parts.iter().find(|part| part.start == Some(time));
        Some((came_at(first)?, came_at(last)?))
    }

    /// For how long each part waited, in nanoseconds: from its start until those had come without
    /// whom it cannot end, and not past its own end. `None` where it is not known of one who they
    /// are (see [`awaited`](Self::awaited)).
    pub(crate) fn waits_ns(&self) -> Option<Vec<i64>> {
        let (_, last) = self.arrivals()?;
        let wait_ns = |part: &Participant<'_>| {
            let awaited = match self.awaited(part)? {
                AwaitedParticipant::Last => last,
                AwaitedParticipant::Part(at) => self.parts[at].start?,
                AwaitedParticipant::Nobody => part.start?,
            };
            Some(awaited.0.saturating_sub(part.start?.0).clamp(0, part.dur_ns?.max(0)))
        };
        self.parts.iter().map(wait_ns).collect()
    }

    /// Without whom a part cannot end; `None` where that is not known.
    ///
    /// It is the last where all give and take alike; the root, who sends to all; for the root, who
    /// receives from all, the last; and for who receives who sends.
    pub(crate) fn awaited(&self, part: &Participant<'_>) -> Option<AwaitedParticipant> {
        let root = self.any(|part| part.one.root_rank);
        let is_root = |part: &Participant<'_>| root.is_some() && part.rank == root;
        match part.one.pattern? {
            CollectivePattern::Broadcast | CollectivePattern::Scatter => {
                self.parts.iter().position(is_root).map(AwaitedParticipant::Part)
            }
            CollectivePattern::Reduce | CollectivePattern::Gather if is_root(part) => Some(AwaitedParticipant::Last),
            CollectivePattern::Recv => {
                let sends = |part: &Participant<'_>| part.one.pattern == Some(CollectivePattern::Send);
                self.parts.iter().position(sends).map(AwaitedParticipant::Part)
            }
            CollectivePattern::Reduce | CollectivePattern::Gather | CollectivePattern::Send => {
                Some(AwaitedParticipant::Nobody)
            }
            pattern if pattern.is_together() => Some(AwaitedParticipant::Last),
            _ => None,
        }
    }

    /// How long it took once all were there, in nanoseconds: the shortest time that any part ran.
    pub(crate) fn transfer_ns(&self) -> Option<i64> {
        self.parts.iter().filter_map(|part| part.dur_ns).min()
    }

    /// How long all parts ran, together; `None` where that is known of none.
    pub(crate) fn total_ns(&self) -> Option<i64> {
        let mut known = self.parts.iter().filter_map(|part| part.dur_ns).peekable();
        known.peek().is_some().then(|| sum_ns(known))
    }

    /// The largest value of all parts.
    pub(crate) fn most(&self, get: impl Fn(&Collective) -> Option<i64>) -> Option<i64> {
        self.parts.iter().filter_map(|part| get(part.one)).max()
    }

    /// The first value of all parts.
    pub(crate) fn any<T>(&self, get: impl Fn(&Participant<'a>) -> Option<T>) -> Option<T> {
        self.parts.iter().find_map(get)
    }
}
