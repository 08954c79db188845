//! Finds the collectives of a trace.

use std::sync::Arc;

use super::failed;
use super::known_ranks::KnownRanks;
use super::local;
use super::member::CollectiveMembers;
use super::row::{Collective, CollectiveWait, Collectives};
use super::wait;
use crate::link::linked_trace::LinkedTrace;
use crate::sort;
use crate::trace::collective::CollectivePattern;
use crate::trace::group::{GroupRanks, ProcessGroups};

impl LinkedTrace {
    /// The communications; found when first asked for.
    pub fn collectives(&self) -> &Collectives {
        self.collectives.get_or_init(|| find(self))
    }
}

/// Finds the communications of a trace.
fn find(linked: &LinkedTrace) -> Collectives {
    let groups = ProcessGroups::new(linked.process_groups());
    let mut all: Vec<Collective> =
        CollectiveMembers::of(linked).into_iter().map(|members| members.collective(linked)).collect();
    sort::by_key(&mut all, |row| row.order(linked));
    let mut known = KnownRanks::new(&groups, linked.trace.num_ranks());
    all.iter_mut().for_each(|row| row.set_group(&mut known));
    local::mark(&mut all);
    let rank = linked.trace.rank().or_else(|| all.iter().find_map(Collective::own_rank));
    let unnamed = groups.unnamed(rank, linked.trace.num_ranks());
    for row in &mut all {
        row.set_ends(rank, &unnamed);
        row.complete_gather(rank);
    }
    let mut found = Collectives { groups, rank, ..Collectives::default() };
    for row in all {
        match row.pattern {
            Some(CollectivePattern::Wait) => found.waits.push(CollectiveWait { call: row, collective: None }),
            Some(CollectivePattern::Init) => {}
            // A record that nothing names may be a wait as well; it is in the tables of events and
            // nodes.
            None if row.name.is_none() && row.device_events.is_empty() => {}
            _ => found.rows.push(row),
        }
    }
    wait::pair(linked, &mut found);
    failed::mark(linked, &mut found);
    found
}

impl Collective {
    /// Calls come in the order of their starts; nodes without an event after them, device events
    /// without a call last.
    pub(crate) fn order(&self, linked: &LinkedTrace) -> (bool, bool, i64, u64) {
        let start = |event: u32| linked.trace.events.start.at(event as usize).0;
        let host = self.event.or(self.run).map(start);
        let node = self.node.map(|node| linked.trace.nodes[node as usize].id);
        let first = host.or_else(|| self.device_events.iter().copied().map(start).min()).unwrap_or(0);
        (host.is_none(), node.is_none(), first, node.unwrap_or(0))
    }

    /// The name of its process group.
    pub fn group_name<'a>(&'a self, linked: &'a LinkedTrace) -> Option<&'a str> {
        let group = || linked.process_groups().get(self.group? as usize);
        self.facts.group_name.as_deref().or_else(|| Some(group()?.name.as_str()))
    }

    /// The description of its process group, if a file has it.
    pub fn group_desc<'a>(&'a self, linked: &'a LinkedTrace) -> Option<&'a str> {
        let group = || linked.process_groups().get(self.group? as usize);
        let listed = || Some(group()?.desc.as_str()).filter(|desc| !desc.is_empty());
        self.facts.group_desc.as_deref().or_else(listed)
    }

    /// The number of the iteration in which it was called.
    pub fn iteration(&self, linked: &LinkedTrace) -> Option<i64> {
        linked.iteration_number(self.first_event()? as usize)
    }

    /// This rank: the rank at the place that a record says, where that is neither a root's nor the
    /// other side's.
    fn own_rank(&self) -> Option<i64> {
        self.ranks.as_ref()?.at(self.own_place()?)
    }

    fn own_place(&self) -> Option<i64> {
        self.facts.rank.filter(|_| self.pattern.is_some_and(|pattern| pattern.is_alike() && pattern.has_message()))
    }

    /// Says which ranks of all are at its ends, and which place is this rank's, `own`. A group that
    /// nothing names is one of `unnamed`.
    fn set_ends(&mut self, own: Option<i64>, unnamed: &[Arc<GroupRanks>]) {
        let Some(pattern) = self.pattern else { return };
        let recorded = self.facts.rank.and_then(|place| self.rank_at(place, unnamed));
        match pattern {
            CollectivePattern::Send => (self.src_rank, self.dst_rank) = (own, self.facts.dst_rank.or(recorded)),
            CollectivePattern::Recv => (self.src_rank, self.dst_rank) = (self.facts.src_rank.or(recorded), own),
            _ if !pattern.is_alike() => self.root_rank = recorded,
            _ => {}
        }
        self.place = self.own_place().or_else(|| self.ranks.as_ref()?.place(own?));
    }

    /// Takes a group of these ranks, that no file names as its own, on the rank `own`.
    pub(crate) fn settle(&mut self, own: i64, (group, name): (Option<u32>, Option<String>), ranks: Arc<GroupRanks>) {
        self.facts.group_name = name;
        self.facts.group_size = Some(ranks.size());
        self.is_local = ranks.size() == 1;
        (self.group, self.ranks) = (group, Some(ranks));
        self.set_ends(Some(own), &[]);
        self.complete_gather(Some(own));
    }

    /// The root of a gather takes as much from each rank, where a list of lists hides its sizes.
    fn complete_gather(&mut self, own: Option<i64>) {
        let is_root = self.pattern == Some(CollectivePattern::Gather) && own.is_some() && self.root_rank == own;
        let facts = &mut self.facts;
        if is_root && facts.out_elems.is_none_or(|elems| elems == 0) {
            facts.out_elems = facts.in_elems.zip(facts.group_size).and_then(|(elems, size)| elems.checked_mul(size));
        }
    }

    /// The rank at a place of its group; where nothing names that, the one at this place of all
    /// that it may be.
    fn rank_at(&self, place: i64, unnamed: &[Arc<GroupRanks>]) -> Option<i64> {
        if let Some(ranks) = &self.ranks {
            return ranks.at(place);
        }
        let is_named = self.facts.group_name.is_some() || self.facts.group_id.is_some();
        let mut found = unnamed.iter().filter(|_| !is_named).filter_map(|ranks| ranks.at(place));
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}
