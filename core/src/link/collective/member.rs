//! The rows of one collective: parts of its call in both files, and device events.

use rustc_hash::FxHashMap;

use super::calls::{CollectiveCalls, both_calls, by_part, name_in, stands_for};
use super::facts::CollectiveFacts;
use super::row::Collective;
use crate::link::collective::call::{CallRole, CollectiveCall};
use crate::link::linked_trace::LinkedTrace;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::collective::{CollectivePattern, known, name};
use crate::trace::kind::EventKind;
use crate::vendor::{collective_word, is_backend, is_communication_kernel};

/// The parts of one communication.
#[derive(Debug, Default)]
pub(super) struct CollectiveMembers {
    host: CollectiveCall,
    node: CollectiveCall,
    device: Vec<u32>,
}

impl CollectiveMembers {
    /// The members of all communications: first those that the host called, then those of nodes
    /// alone, then those of device events alone.
    pub(super) fn of(linked: &LinkedTrace) -> Vec<Self> {
        let (hosts, mut nodes) = both_calls(linked);
        let (mut devices, alone) = device_events(linked, &hosts);
        let node_at = by_part(&nodes.all);
        let mut all = Vec::with_capacity(hosts.all.len());
        for (at, host) in hosts.all.into_iter().enumerate() {
            let linked_nodes = host.iter().filter_map(|part| linked.links.nodes.node_of_event.get(part.row as usize));
            let node = linked_nodes.filter_map(|node| node_at.get(&node)).find(|node| !nodes.all[**node].is_empty());
            let node = node.map(|node| std::mem::take(&mut nodes.all[*node])).unwrap_or_default();
            all.push(Self { host, node, device: devices.remove(&(at as u32)).unwrap_or_default() });
        }
        all.extend(nodes.all.into_iter().map(|node| Self { node, ..Self::default() }));
        all.extend(alone.into_iter().map(|row| Self { device: vec![row], ..Self::default() }));
        all.retain(|members| !(members.host.is_empty() && members.node.is_empty() && members.device.is_empty()));
        all
    }

    /// The merged facts of all members.
    pub(super) fn collective(self, linked: &LinkedTrace) -> Collective {
        let trace = &linked.trace;
        let device = self.device.first().map(|row| CollectiveFacts::of_event(trace, *row as usize)).unwrap_or_default();
        let mut facts = node_facts(trace, &self.node).or(host_facts(trace, &self.host)).or(device);
        let event_name = |row: u32| known(trace.event_name(row as usize)).map(|(name, _)| name);
        let node_name = |row: u32| known(trace.strings.text(trace.nodes[row as usize].name)).map(|(name, _)| name);
        let spelled = facts.name.as_deref().map(name);
        let named = || name_in(&self.node, node_name).or_else(|| name_in(&self.host, event_name));
        let kernel = || self.device.iter().find_map(|row| kernel_name(trace.event_name(*row as usize)));
        let name = spelled.or_else(|| named().or_else(kernel).map(str::to_owned));
        let pattern = name.as_deref().and_then(known).map(|(_, pattern)| pattern);
        facts.out_elems =
            facts.out_elems.or(facts.in_elems.filter(|_| pattern.is_some_and(CollectivePattern::keeps_size)));
        Collective {
            event: stands_for(&self.host),
            node: stands_for(&self.node).or_else(|| self.node.first().map(|part| part.row)),
            outer_node: self.node.first().map(|part| part.row),
            run: self.host.iter().find(|part| part.role == CallRole::Run).map(|part| part.row),
            pattern,
            device_events: self.device,
            name,
            facts,
            ..Collective::default()
        }
    }
}

/// Device events that communicate: by the host's call around their launch, and those whose call is
/// not known.
fn device_events(linked: &LinkedTrace, hosts: &CollectiveCalls) -> (FxHashMap<u32, Vec<u32>>, Vec<u32>) {
    let trace = &linked.trace;
    let (mut called, mut alone): (FxHashMap<u32, Vec<u32>>, _) = (FxHashMap::default(), Vec::new());
    for row in 0..trace.events.len() {
        if !trace.is_on_device(row) {
            continue;
        }
        let communicates = match trace.events.kind[row] {
            EventKind::Kernel => is_communication_kernel(trace.event_name(row)) || has_collective(trace, row),
            EventKind::Copy => is_copy_of_backend(linked, row),
            _ => false,
        };
        if communicates {
            match linked.links.launch.get(row).and_then(|launch| hosts.of_row.get(launch as usize)) {
                Some(call) => called.entry(call).or_default().push(row as u32),
                None => alone.push(row as u32),
            }
        }
    }
    (called, alone)
}

fn has_collective(trace: &Trace, row: usize) -> bool {
    let mut name = String::new();
    trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::Collective, &mut name)
}

/// Whether the backend itself enqueued a copy. It does so in groups of one rank, or where copy
/// engines move data without arithmetic.
fn is_copy_of_backend(linked: &LinkedTrace, row: usize) -> bool {
    let owner = linked.links.operator.get(row).map(|owner| owner as usize);
    let is_range = |owner: &usize| linked.trace.events.kind[*owner] == EventKind::Annotation;
    owner.filter(is_range).is_some_and(|owner| {
        let name = linked.trace.event_name(owner);
        name.split_once(':').is_some_and(|(backend, _)| is_backend(backend))
    })
}

/// The collective in a kernel's name.
fn kernel_name(name: &str) -> Option<&'static str> {
    collective_word(name).and_then(known).map(|(name, _)| name)
}

fn host_facts(trace: &Trace, call: &CollectiveCall) -> CollectiveFacts {
    call.iter().fold(CollectiveFacts::default(), |facts, part| match part.role {
        CallRole::Operator => facts.or(CollectiveFacts::of_operator(trace, part.row as usize)),
        CallRole::Record => facts.or(CollectiveFacts::of_event(trace, part.row as usize)),
        CallRole::Annotation | CallRole::Run => facts.or(CollectiveFacts::of_annotation(trace, part.row as usize)),
    })
}

fn node_facts(trace: &Trace, call: &CollectiveCall) -> CollectiveFacts {
    call.iter().fold(CollectiveFacts::default(), |facts, part| match part.role {
        CallRole::Operator => facts.or(CollectiveFacts::of_operator_node(trace, &trace.nodes[part.row as usize])),
        CallRole::Record => facts.or(CollectiveFacts::of_node(trace, part.row as usize)),
        CallRole::Annotation | CallRole::Run => {
            facts.or(CollectiveFacts::of_tensors(&trace.strings, &trace.nodes[part.row as usize]))
        }
    })
}
