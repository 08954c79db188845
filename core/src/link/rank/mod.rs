//! Links the traces of a job: shared collectives and clock offsets.

mod clock;
mod family;
mod group_call;
mod group_inference;
mod group_threads;
mod settled;
mod unnamed;
mod window;

use std::sync::Arc;

use super::collective::{Collective, Collectives};
use super::linked_trace::LinkedTrace;
use crate::time::Ts;
pub use clock::ClockOffset;
pub use group_call::GroupCall;
pub use group_inference::{CandidateGroup, InferredGroups, infer_groups};
pub use settled::{InferenceSpan, SettledCollectives, settled_collectives};
pub(crate) use window::windows;

/// The traces of a job, with shared collectives and clocks.
#[derive(Debug, Default)]
pub struct JobRanks {
    /// The traces.
    pub members: Vec<JobMember>,
    /// Communications that several traces have, by their numbers: in the order of the first trace
    /// that has them.
    pub shared: Vec<SharedCollective>,
    /// Where each member's rows start among those of all; one more than there are members.
    starts: Vec<usize>,
    is_aligned: bool,
}

/// A trace of a job.
#[derive(Debug, Default)]
pub struct JobMember {
    /// The rank it is of, where that is known.
    pub rank: Option<i64>,
    /// Index among the traces of the rank, from 0.
    pub window: i64,
    /// The trace.
    pub linked: Arc<LinkedTrace>,
    /// For each of its communications the number of the shared one.
    pub shared: Vec<Option<u32>>,
    /// Its collectives with inferred groups, where no file names these.
    settled: Option<SettledCollectives>,
    /// How far its clock is ahead of the first trace's; `None` where no communication tells.
    pub clock: Option<ClockOffset>,
}

/// A communication that several traces have.
#[derive(Debug, Clone)]
pub struct SharedCollective {
    /// The members that have it, ascending, each with its row there.
    pub rows: Vec<(u32, u32)>,
    /// The method that matched it.
    pub how: MatchMethod,
    /// When the last of them came to it.
    pub last_start: Option<Ts>,
}

/// The method that matched a shared collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchMethod {
    /// Its number in sequence, which its group counts on all ranks alike.
    Number,
    /// Its place among its like.
    Order,
}

impl MatchMethod {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "seq",
            Self::Order => "order",
        }
    }
}

impl JobRanks {
    /// Matches the collectives of traces, each with its rank, in counting order.
    ///
    /// Collectives match if process group, name and sequence number are equal. Without numbers,
    /// their positions in the iteration match, if all traces have equally many of similar sizes.
    /// Starts compare as recorded, or without clock offsets (`is_aligned`).
    pub fn new(traces: Vec<(Option<i64>, Arc<LinkedTrace>)>, is_aligned: bool) -> Self {
        let windows = windows(&traces.iter().map(|(rank, _)| *rank).collect::<Vec<_>>());
        let settled = settled_collectives(&traces, InferenceSpan::Iteration);
        let member =
            |(((rank, linked), window), settled): ((settled::TraceOfRank, i64), Option<SettledCollectives>)| {
                let shared = vec![None; linked.collectives().rows.len()];
                JobMember { rank, window, linked, shared, settled, clock: None }
            };
        let members: Vec<_> = traces.into_iter().zip(windows).zip(settled).map(member).collect();
        let lens = members.iter().map(|member: &JobMember| member.shared.len()).chain([0]);
        let starts = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
        let mut ranks = Self { shared: family::shared(&members), members, starts, is_aligned };
        for (number, shared) in ranks.shared.iter().enumerate() {
            for (member, row) in &shared.rows {
                ranks.members[*member as usize].shared[*row as usize] = Some(number as u32);
            }
        }
        clock::align(&mut ranks);
        let last: Vec<_> = ranks.shared.iter().map(|shared| ranks.last_start(shared)).collect();
        ranks.shared.iter_mut().zip(last).for_each(|(shared, last)| shared.last_start = last);
        ranks
    }

    /// How many communications the members have, each counted where it is recorded.
    pub fn num_rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The member and its row, of a row among those of all members.
    pub fn place(&self, row: usize) -> (usize, usize) {
        // A member without rows starts where the next one does.
        let member = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        (member, row - self.starts.get(member).copied().unwrap_or(0))
    }

    /// The shared communication that a member's is.
    pub fn shared_of(&self, member: usize, row: usize) -> Option<(u32, &SharedCollective)> {
        let number = self.members.get(member)?.shared.get(row).copied()??;
        Some((number, &self.shared[number as usize]))
    }

    /// How much earlier than the last rank a member came to a communication that it shares: 0 or
    /// less, in nanoseconds.
    pub fn skew_ns(&self, member: usize, row: usize) -> Option<i64> {
        let last = self.shared_of(member, row)?.1.last_start?;
        let (_, start) = self.start(member, row)?;
        Some(start.0.saturating_sub(last.0))
    }

    fn last_start(&self, shared: &SharedCollective) -> Option<Ts> {
        if self.is_aligned && !self.do_clocks_compare(&shared.rows) {
            return None;
        }
        let starts = shared.rows.iter().map(|(member, row)| self.start(*member as usize, *row as usize));
        let starts = starts.collect::<Option<Vec<_>>>()?;
        // A call and a kernel do not compare.
        let (is_run, _) = *starts.first()?;
        starts.iter().all(|(other, _)| *other == is_run).then(|| starts.iter().map(|(_, start)| *start).max())?
    }

    fn start(&self, member: usize, row: usize) -> Option<(bool, Ts)> {
        let (is_run, start) = self.members[member].start(row)?;
        Some((is_run, Ts(start.0.saturating_sub(self.offset_ns(member)?))))
    }

    /// Whether starts are compared with the clocks' offsets taken away.
    pub(crate) fn is_aligned(&self) -> bool {
        self.is_aligned
    }

    /// Whether the offsets of all these communications' members are to one clock.
    pub(crate) fn do_clocks_compare(&self, rows: &[(u32, u32)]) -> bool {
        let group = |(member, _): &(u32, u32)| self.members[*member as usize].clock.map(|clock| clock.group);
        rows.iter().all(|row| group(row) == rows.first().and_then(group))
    }

    /// The correction of a member's times for comparison: 0, or its known clock offset.
    pub(crate) fn offset_ns(&self, member: usize) -> Option<i64> {
        if self.is_aligned { Some(self.members.get(member)?.clock?.offset_ns) } else { Some(0) }
    }
}

impl JobMember {
    /// One of its communications.
    pub fn collective(&self, row: usize) -> &Collective {
        &self.collectives().rows[row]
    }

    /// All of its communications, with the groups that other ranks tell.
    pub fn collectives(&self) -> &Collectives {
        self.settled.as_ref().map_or_else(|| self.linked.collectives(), |settled| &settled.collectives)
    }

    /// Whether the group of a communication is one of several, and not certain.
    fn is_ambiguous(&self, row: u32) -> bool {
        self.settled.as_ref().is_some_and(|settled| settled.ambiguous.binary_search(&row).is_ok())
    }

    /// When one of them started to run, or else when it was called; and which of them it is.
    pub(crate) fn start(&self, row: usize) -> Option<(bool, Ts)> {
        let (trace, row) = (&self.linked.trace, self.collective(row));
        let ran = row.time(trace).map(|time| (true, time.start));
        ran.or_else(|| Some((false, trace.events.start.at(row.event? as usize))))
    }
}
