//! A collective, or a wait for one, with everything that a replay needs.

use std::sync::Arc;

use super::argument::CallArguments;
use super::message::CollectiveMessage;
use crate::link::{Collective, LinkedTrace};
use crate::trace::collective::{CollectivePattern, known};
use crate::trace::group::GroupRanks;
use crate::trace::node::Node;

/// One step of a plan.
#[derive(Debug, Clone, Default)]
pub struct ReplayCall {
    /// The node that records it.
    pub node_id: Option<u64>,
    /// Its name, one for all spellings; `wait` for a wait.
    pub collective: String,
    /// Index in the plan of the awaited collective; `None` for collectives, and where it is
    /// unknown.
    pub wait_of: Option<i64>,
    /// The number of the batch of sends and receives that it was started with.
    pub batch: Option<i64>,
    /// The name of its process group; gloo does not record it.
    pub group_name: Option<String>,
    /// The ranks of that group, where they are known.
    pub ranks: Option<Arc<GroupRanks>>,
    /// How many ranks the group has.
    pub group_size: Option<i64>,
    /// Whether it is a send or a receive.
    pub is_p2p: bool,
    /// The root, as its place in the group.
    pub root_place: Option<i64>,
    /// The other side of a send or a receive, as its place in the group.
    pub peer_place: Option<i64>,
    /// The tag by which a receive selects a send.
    pub tag: Option<i64>,
    /// Sizes of input and output.
    pub message: CollectiveMessage,
    /// The reduction (`sum`), if recorded.
    pub reduction: Option<String>,
    /// Whether the host went on before it was done; `None` where it is not recorded.
    pub is_async: Option<bool>,
    /// Its number in sequence within the group.
    pub seq: Option<i64>,
    /// When the host called it, as the tables count time.
    pub start_ns: Option<i64>,
    /// How long it ran, from the device's events or the backend's own.
    pub dur_ns: Option<i64>,
}

impl ReplayCall {
    /// The ranks of the group, unless they are all up to its size.
    pub(super) fn listed_ranks(&self) -> Option<Vec<i64>> {
        match self.ranks.as_deref()? {
            GroupRanks::All(_) => None,
            GroupRanks::Listed(ranks) => Some(ranks.clone()),
        }
    }
}

/// A communication or a wait of the trace.
pub(super) struct RecordedCall<'a> {
    pub row: &'a Collective,
    /// For a wait, the index of its collective.
    pub of: Option<u32>,
    /// Of a communication, which one it is.
    pub at: Option<u32>,
}

/// So many nodes around a record are looked at: a functional operator, the one of `c10d`, the
/// record made twice.
const MAX_AROUND: usize = 8;

/// A receive from any source.
const RECV_ANY: &str = "c10d::recv_any_source";

impl RecordedCall<'_> {
    pub(super) fn is_wait(&self) -> bool {
        self.at.is_none()
    }

    /// Whether it is known from a thread of the backend alone.
    pub(super) fn is_run(&self, linked: &LinkedTrace) -> bool {
        self.row.is_run_alone(linked)
    }

    /// `None` for unknown collectives.
    pub(super) fn call(&self, linked: &LinkedTrace) -> Option<ReplayCall> {
        let (row, pattern) = (self.row, self.row.pattern?);
        let common = ReplayCall {
            node_id: row.node.map(|node| linked.trace.nodes[node as usize].id),
            collective: row.name.clone()?,
            group_name: row.group_name(linked).map(str::to_owned),
            ranks: row.ranks.clone(),
            group_size: row.facts.group_size,
            is_p2p: pattern.is_p2p(),
            seq: row.facts.seq,
            start_ns: row.event.map(|event| linked.trace.events.start.at(event as usize).0),
            dur_ns: row.time(&linked.trace).map(|time| time.dur().0),
            ..ReplayCall::default()
        };
        if self.is_wait() {
            return Some(common);
        }
        let place = row.facts.rank.filter(|_| !pattern.is_alike());
        let call = ReplayCall {
            message: CollectiveMessage::of_record(row, &CallArguments::default()),
            is_async: row.is_async(),
            root_place: place.filter(|_| !pattern.is_p2p()),
            peer_place: place.filter(|_| pattern.is_p2p()),
            ..common
        };
        Some(self.with_operator_facts(linked, pattern, call).with_exchange_name())
    }

    /// Prefers the facts of the innermost operator of the call over those of its record.
    fn with_operator_facts(&self, linked: &LinkedTrace, pattern: CollectivePattern, call: ReplayCall) -> ReplayCall {
        let around = self.around(linked);
        let named = |start: &str| around.iter().find(|node| name_of(linked, node).starts_with(start));
        let given = |node: &Node| CallArguments::of(&linked.trace, node);
        let call = match named("_c10d_functional") {
            Some(node) => call.of_function(pattern, &given(node), name_of(linked, node)),
            None => call,
        };
        if let Some(node) = named("c10d::") {
            return call.of_operator(pattern, &given(node), name_of(linked, node));
        }
        if let Some(event) = self.operator_event(linked) {
            return call.of_event(
                pattern,
                &CallArguments::of_event(&linked.trace, event),
                linked.trace.event_name(event),
            );
        }
        match (named("record_param_comms"), around.is_empty()) {
            (Some(node), _) if call.message.in_elems.len() < 2 => call.of_record(self.row, &given(node)),
            _ => call,
        }
    }

    /// The host event of the operator of `c10d` that a call without a node is, or is inside of.
    fn operator_event(&self, linked: &LinkedTrace) -> Option<usize> {
        let around = |row: &u32| linked.links.nesting.parent.get(*row as usize);
        let events = std::iter::successors(self.row.event.filter(|_| self.row.node.is_none()), around);
        let mut events = events.take(MAX_AROUND).map(|row| row as usize);
        events.find(|row| linked.trace.event_name(*row).starts_with("c10d::"))
    }

    /// The node of the call and those around it that are of it, from the innermost.
    fn around<'a>(&self, linked: &'a LinkedTrace) -> Vec<&'a Node> {
        let (mut next, mut found) = (self.row.node, Vec::new());
        while let Some(node) = next.filter(|_| found.len() < MAX_AROUND) {
            found.push(&linked.trace.nodes[node as usize]);
            let is_outermost = Some(node) == self.row.outer_node;
            next = linked.links.nodes.parent_of_node.get(node as usize).filter(|_| !is_outermost);
        }
        found
    }
}

impl ReplayCall {
    /// An exchange of one tensor among several ranks is in parts of it, not in a list of tensors.
    fn with_exchange_name(mut self) -> Self {
        let message = &mut self.message;
        let [gives, takes] = [&message.in_elems, &message.out_elems].map(Vec::len);
        if self.collective == "all_to_all" && gives.min(takes) == 1 && gives != takes {
            // Only one side is recorded tensor by tensor: these are its parts.
            let (elems, parts) = if gives > 1 {
                (&mut message.in_elems, &mut message.in_split)
            } else {
                (&mut message.out_elems, &mut message.out_split)
            };
            let total = elems.iter().fold(0, |sum: i64, elems| sum.saturating_add(*elems));
            *parts = std::mem::replace(elems, vec![total]);
        }
        let is_one = self.message.in_elems.len() < 2 && self.message.out_elems.len() < 2;
        let is_list = !is_one || self.group_size == Some(1);
        Self { collective: exchange(self.collective, is_list), ..self }
    }

    /// As an event tells it, which lacks the types of lists, and lists of lists: a record may have
    /// them.
    fn of_event(self, pattern: CollectivePattern, given: &CallArguments, name: &str) -> Self {
        let recorded = self.message.clone();
        let mut call = self.of_operator(pattern, given, name);
        let message = &mut call.message;
        for (own, recorded) in [
            (&mut message.in_elems, recorded.in_elems),
            (&mut message.out_elems, recorded.out_elems),
            (&mut message.in_split, recorded.in_split),
            (&mut message.out_split, recorded.out_split),
        ] {
            if own.is_empty() {
                *own = recorded;
            }
        }
        message.elem_bytes = message.elem_bytes.filter(|_| message.dtype.is_some()).or(recorded.elem_bytes);
        message.dtype = message.dtype.take().or(recorded.dtype);
        call
    }

    fn of_operator(self, pattern: CollectivePattern, given: &CallArguments, name: &str) -> Self {
        let is_of_any = name.starts_with(RECV_ANY);
        let place = given.int().filter(|_| !pattern.is_alike() && !is_of_any);
        Self {
            message: CollectiveMessage::of_operator(pattern, given),
            root_place: place.filter(|_| !pattern.is_p2p()).or(self.root_place),
            peer_place: place.filter(|_| pattern.is_p2p()).or(self.peer_place).filter(|_| !is_of_any),
            tag: given.ints().nth(usize::from(!is_of_any)).filter(|_| pattern.is_p2p()),
            is_async: given.truth().or(self.is_async),
            collective: spelled(name, pattern, given.is_list(0)).unwrap_or(self.collective),
            ..self
        }
    }

    fn of_function(self, pattern: CollectivePattern, given: &CallArguments, name: &str) -> Self {
        let texts = given.texts();
        Self {
            message: CollectiveMessage::of_function(pattern, given),
            root_place: given.int().filter(|_| pattern == CollectivePattern::Broadcast).or(self.root_place),
            is_async: Some(true),
            collective: spelled(name, pattern, given.is_list(0)).unwrap_or(self.collective),
            group_name: texts.last().map(|name| (*name).to_owned()).or(self.group_name),
            reduction: texts.first().filter(|_| texts.len() > 1).map(|name| (*name).to_owned()),
            ..self
        }
    }

    fn of_record(self, row: &Collective, given: &CallArguments) -> Self {
        let message = CollectiveMessage::of_record(row, given);
        let is_list = given.is_list(0);
        Self { collective: exchange(self.collective, is_list), message, ..self }
    }
}

/// The name of an operator's collective, independent of its backend. `None` where the call is of
/// another pattern: a name and a message of two calls would contradict each other.
fn spelled(name: &str, pattern: CollectivePattern, is_list: bool) -> Option<String> {
    let known = known(name).filter(|(_, own)| *own == pattern);
    known.map(|(name, _)| exchange(name.to_owned(), is_list))
}

/// One name for exchanges between lists of tensors, and one for those within a tensor.
fn exchange(name: String, is_list: bool) -> String {
    if name == "all_to_all" && !is_list { String::from("all_to_allv") } else { name }
}

fn name_of<'a>(linked: &'a LinkedTrace, node: &Node) -> &'a str {
    linked.trace.strings.text(node.name)
}
