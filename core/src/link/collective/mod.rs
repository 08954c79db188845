//! Communications: one for each that the files record, on the host, on a device, in the Execution Trace, or in all.

mod call;
mod facts;
mod member;
mod timing;
mod wait;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::LinkedTrace;
use crate::id::OptionalColumn;
use crate::sort;
use crate::trace::collective::{Pattern, known};
use crate::trace::group::{Groups, Ranks};
use call::{Call, Part, Role};
pub use facts::Facts;
use member::Members;
pub(crate) use timing::{bus_bytes, gbps};
pub use wait::Wait;

/// A communication. Rows are those of the tables of events and nodes.
#[derive(Debug, Clone, Default)]
pub struct Collective {
    /// The host event that asked for it: its record, or else what stands around it or in it.
    pub event: Option<u32>,
    /// The node of that call.
    pub node: Option<u32>,
    /// The outermost node of the call, which takes and gives its tensors.
    pub outer_node: Option<u32>,
    /// The host event that it was itself, where its backend works on the host (`gloo:all_reduce`).
    pub run: Option<u32>,
    /// The device events that it was.
    pub device_events: Vec<u32>,
    /// Its name, one for all spellings; a record's own where it is unknown.
    pub name: Option<String>,
    /// What it is.
    pub pattern: Option<Pattern>,
    /// What the files say of it: the node, then the host event, then the device event.
    pub facts: Facts,
    /// Its group among the process groups.
    pub group: Option<u32>,
    /// The ranks of that group, where they are known.
    pub ranks: Option<Arc<Ranks>>,
    /// The place of this rank in the group.
    pub place: Option<i64>,
    /// The rank that sends to all or receives from all.
    pub root_rank: Option<i64>,
    /// The rank that sends, of two.
    pub src_rank: Option<i64>,
    /// The rank that receives, of two.
    pub dst_rank: Option<i64>,
    /// Its wait among the waits.
    pub wait: Option<u32>,
}

/// All communications of a trace, and the host's waits for them.
#[derive(Debug, Clone, Default)]
pub struct Collectives {
    /// Communications by the start of the call; those that only the Execution Trace knows, by their nodes.
    pub rows: Vec<Collective>,
    /// Waits, in the same order.
    pub waits: Vec<Wait>,
    /// The process groups by what records call them.
    pub groups: Groups,
    /// The rank whose trace it is, where a file tells it.
    pub rank: Option<i64>,
}

/// Whether a name is that of a part of a communication.
pub(crate) fn communicates(name: &str) -> bool {
    call::part(0, name).is_some()
}

/// Finds the communications of a trace.
pub(super) fn find(linked: &LinkedTrace) -> Collectives {
    let groups = Groups::new(linked.process_groups());
    let mut all: Vec<Collective> = Members::of(linked).into_iter().map(|members| members.collective(linked)).collect();
    sort::by_key(&mut all, |row| row.order(linked));
    all.iter_mut().for_each(|row| row.set_group(&groups));
    let rank = linked.trace.rank().or_else(|| all.iter().find_map(Collective::own_rank));
    let unnamed = groups.unnamed(rank, linked.trace.num_ranks());
    all.iter_mut().for_each(|row| row.set_ends(rank, &unnamed));
    let mut found = Collectives { groups, rank, ..Collectives::default() };
    for row in all {
        match row.pattern {
            Some(Pattern::Wait) => found.waits.push(Wait { call: row, collective: None }),
            Some(Pattern::Init) => {}
            // A record that nothing names may be a wait as well; it is in the tables of events and nodes.
            None if row.name.is_none() && row.device_events.is_empty() => {}
            _ => found.rows.push(row),
        }
    }
    wait::pair(linked, &mut found);
    found
}

impl Collective {
    /// Calls come in the order of their starts; nodes without an event after them, device events without a call last.
    pub(crate) fn order(&self, linked: &LinkedTrace) -> (bool, bool, i64, u64) {
        let start = |event: u32| linked.trace.events.start[event as usize].0;
        let host = self.event.or(self.run).map(start);
        let node = self.node.map(|node| linked.trace.nodes[node as usize].id);
        let first = host.or_else(|| self.device_events.iter().copied().map(start).min()).unwrap_or(0);
        (host.is_none(), node.is_none(), first, node.unwrap_or(0))
    }

    /// What its process group is called.
    pub fn group_name<'a>(&'a self, linked: &'a LinkedTrace) -> Option<&'a str> {
        let group = || linked.process_groups().get(self.group? as usize);
        self.facts.group_name.as_deref().or_else(|| Some(group()?.name.as_str()))
    }

    /// The number of the iteration in which it was called.
    pub fn iteration(&self, linked: &LinkedTrace) -> Option<i64> {
        let at = linked.links.iteration.get(self.first_event()? as usize)?;
        Some(linked.links.iterations[at as usize].number)
    }

    fn set_group(&mut self, groups: &Groups) {
        self.group = groups.of(self.facts.group_name.as_deref(), self.facts.group_id);
        let listed = || self.facts.ranks.clone().map(Arc::new);
        self.ranks = self.group.and_then(|group| groups.ranks(group)).or_else(listed);
        self.facts.group_size = self.facts.group_size.or_else(|| Some(self.ranks.as_ref()?.size()));
    }

    /// This rank: the rank at the place that a record says, where that is neither a root's nor the other side's.
    fn own_rank(&self) -> Option<i64> {
        self.ranks.as_ref()?.at(self.own_place()?)
    }

    fn own_place(&self) -> Option<i64> {
        self.facts.rank.filter(|_| self.pattern.is_some_and(|pattern| pattern.is_alike() && pattern.has_message()))
    }

    /// Says which ranks of all are at its ends, and which place is this rank's, `own`. A group that nothing names is one
    /// of `unnamed`.
    fn set_ends(&mut self, own: Option<i64>, unnamed: &[Arc<Ranks>]) {
        let Some(pattern) = self.pattern else { return };
        let recorded = self.facts.rank.and_then(|place| self.rank_at(place, unnamed));
        match pattern {
            Pattern::Send => (self.src_rank, self.dst_rank) = (own, self.facts.dst_rank.or(recorded)),
            Pattern::Recv => (self.src_rank, self.dst_rank) = (self.facts.src_rank.or(recorded), own),
            _ if !pattern.is_alike() => self.root_rank = recorded,
            _ => {}
        }
        self.place = self.own_place().or_else(|| self.ranks.as_ref()?.place(own?));
    }

    /// The rank at a place of its group; where nothing names that, the one at this place of all that it may be.
    fn rank_at(&self, place: i64, unnamed: &[Arc<Ranks>]) -> Option<i64> {
        if let Some(ranks) = &self.ranks {
            return ranks.at(place);
        }
        let is_named = self.facts.group_name.is_some() || self.facts.group_id.is_some();
        let mut found = unnamed.iter().filter(|_| !is_named).filter_map(|ranks| ranks.at(place));
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}

/// The calls of a trace's host events or of its nodes, by their rows.
struct Calls {
    all: Vec<Call>,
    /// The call that each row is in.
    of_row: OptionalColumn,
}

/// The calls of the host and those of nodes. Where the order of what a backend was asked for does not tell which run is an
/// operator's, the other file may: an operator that raised has no run, and a recording may begin between the two.
fn both_calls(linked: &LinkedTrace) -> (Calls, Calls) {
    let (links, mut hosts, mut nodes) = (&linked.links.nodes, host_calls(linked), node_calls(linked));
    let node_at = by_part(&nodes.all);
    call::join_told(&mut hosts.all, |part| node_at.get(&links.node_of_event.get(part.row as usize)?).copied());
    let host_at = by_part(&hosts.all);
    call::join_told(&mut nodes.all, |part| host_at.get(&links.event_of_node.get(part.row as usize)?).copied());
    (hosts, nodes)
}

fn host_calls(linked: &LinkedTrace) -> Calls {
    let (trace, nesting) = (&linked.trace, &linked.links.nesting);
    let hosts = nesting.order.iter().map(|row| *row as usize).filter(|row| !trace.is_on_device(*row));
    let parts: Vec<Part> = hosts.filter_map(|row| call::part(row, trace.event_name(row))).collect();
    let parent = |row: usize| nesting.parent.get(row).map(|parent| parent as usize);
    let (mut all, of_row) = call::calls(&parts, trace.events.len(), parent);
    call::join_runs(&mut all, |part| (trace.record_id(part.row as usize), trace.events.start[part.row as usize]));
    Calls { all, of_row }
}

fn node_calls(linked: &LinkedTrace) -> Calls {
    let nodes = &linked.trace.nodes;
    let name = |row: usize| linked.trace.strings.text(nodes[row].name);
    let mut parts: Vec<Part> = (0..nodes.len()).filter_map(|row| call::part(row, name(row))).collect();
    // Nodes are numbered as they begin, so what is around a node comes before it.
    sort::by_key(&mut parts, |part| nodes[part.row as usize].id);
    let parent = |row: usize| linked.links.nodes.parent_of_node.get(row).map(|parent| parent as usize);
    let (mut all, of_row) = call::calls(&parts, nodes.len(), parent);
    call::join_runs(&mut all, |part| (nodes[part.row as usize].record_id, nodes[part.row as usize].id));
    Calls { all, of_row }
}

/// The row of the part that stands for a call: its record, or else the outermost; a run only when there is no other.
fn stands_for(call: &Call) -> Option<u32> {
    let record = call.iter().find(|part| part.role == Role::Record);
    record.or_else(|| call.iter().find(|part| part.role != Role::Run)).map(|part| part.row)
}

/// The name that the innermost part gives that has one, when the record has none.
fn name_in(call: &Call, name: impl Fn(u32) -> Option<&'static str>) -> Option<&'static str> {
    call.iter().rev().filter(|part| part.role != Role::Record).find_map(|part| name(part.row))
}

/// Calls by the rows of their parts.
fn by_part(calls: &[Call]) -> FxHashMap<u32, usize> {
    let parts = calls.iter().enumerate().flat_map(|(at, call)| call.iter().map(move |part| (part.row, at)));
    parts.collect()
}
