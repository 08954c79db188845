//! Linked traces prepared for screens.

use std::sync::{Arc, OnceLock};

use super::session_trace::{SessionTrace, members};
use crate::analyze::{DrawnStep, Finding, RankedTrace};
use crate::edit::Companion;
use crate::error::{Error, ErrorKind, Position};
use crate::link::LinkedTrace;
use crate::link::rank::JobRanks;

/// Linked traces for screens: a single one, those of a job, or two to compare.
#[derive(Debug, Clone, Default)]
pub struct Session {
    pub(super) parts: Vec<SessionTrace>,
    pub(super) ranks: OnceLock<Arc<JobRanks>>,
    /// The critical path through all ranks; computed on first use.
    pub(super) path: OnceLock<Vec<DrawnStep>>,
    /// The bottlenecks of the job, independent of the alignment; computed on first use.
    pub(super) findings: OnceLock<Vec<Finding>>,
}

impl Session {
    /// Prepares a trace for screens.
    pub fn new(linked: impl Into<Arc<LinkedTrace>>) -> Self {
        let linked = linked.into();
        let part = SessionTrace::after(&[], (String::new(), linked.trace.rank()), linked);
        Self { parts: part.into_iter().collect(), ..Self::default() }
    }

    /// The traces of ranks; those of other tools come after them.
    pub(super) fn members(&self) -> &[SessionTrace] {
        members(&self.parts)
    }

    /// Adds a trace after the others, but before those of other tools. It has a display name, which
    /// may be empty, and its rank, if the trace does not state it. An error when events or tracks
    /// outnumber the ids.
    pub fn add(&mut self, name: &str, rank: Option<i64>, linked: impl Into<Arc<LinkedTrace>>) -> Result<(), Error> {
        let linked = linked.into();
        let label = (name.to_owned(), linked.trace.rank().or(rank));
        let is_companion = Companion::of(&linked.trace).is_some();
        let num_ranks = if is_companion { self.parts.len() } else { self.parts.partition_point(SessionTrace::is_rank) };
        let companions = self.parts.split_off(num_ranks).into_iter().map(|part| ((part.name, part.rank), part.linked));
        for (label, linked) in std::iter::once((label, linked)).chain(companions) {
            let part = SessionTrace::after(&self.parts, label, linked);
            self.parts.push(part.ok_or(ErrorKind::Limit {
                unit: "events",
                limit: u32::MAX.into(),
                position: Position::default(),
            })?);
        }
        if is_companion {
            self.parts.iter_mut().for_each(SessionTrace::name_by_tool);
        }
        self.ranks = OnceLock::new();
        self.path = OnceLock::new();
        self.findings = OnceLock::new();
        Ok(())
    }

    /// The traces, in their order.
    pub fn traces(&self) -> impl Iterator<Item = &Arc<LinkedTrace>> {
        self.parts.iter().map(|part| &part.linked)
    }

    /// The traces of ranks, each with its rank.
    pub(super) fn ranked(&self) -> Vec<RankedTrace> {
        self.members().iter().map(|part| (part.rank, Arc::clone(&part.linked))).collect()
    }

    /// Shared collectives and clocks of the traces.
    pub(super) fn ranks(&self) -> &JobRanks {
        self.ranks.get_or_init(|| Arc::new(JobRanks::new(self.ranked(), true)))
    }

    /// By how many nanoseconds the clock of each trace is ahead; 0 where no communication tells.
    pub(super) fn clocks(&self) -> Vec<i64> {
        let members = self.ranks().members.iter();
        members.map(|member| member.clock.map_or(0, |clock| clock.offset_ns)).collect()
    }
}
