//! The rows of one collective: parts of its call in both files, and device events.

use rustc_hash::FxHashMap;

use super::calls::{both_calls, by_part, is_stand_in, name_in, stands_for};
use super::facts::CollectiveFacts;
use super::row::Collective;
use crate::id::StrId;
use crate::link::collective::call::{CallRole, CollectiveCall, CollectiveCalls, CollectiveRow};
use crate::link::linked_trace::LinkedTrace;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::collective::{CollectivePattern, known, name};
use crate::trace::kind::EventKind;
use crate::vendor::{collective_word, enqueues, is_backend, is_communication_kernel};

/// The parts of one communication.
#[derive(Debug, Default)]
pub(super) struct CollectiveMembers {
    host: CollectiveCall,
    node: CollectiveCall,
    device: Vec<u32>,
    launch: Option<u32>,
    is_shared: bool,
}

impl CollectiveMembers {
    /// The members of all communications: first those that the host called, then those of nodes
    /// alone, then those of device events alone.
    pub(super) fn of(linked: &LinkedTrace) -> Vec<Self> {
        let (hosts, mut nodes) = both_calls(linked);
        let (mut devices, alone) = device_events(linked, &hosts);
        let launching = launching_calls(linked, &hosts);
        let shared = hosts.shared;
        let node_at = by_part(&nodes.all);
        let mut all = Vec::with_capacity(hosts.all.len());
        for (at, host) in hosts.all.into_iter().enumerate() {
            let linked_nodes = host.iter().filter_map(|part| linked.links.nodes.node_of_event.get(part.row as usize));
            let node = linked_nodes.filter_map(|node| node_at.get(&node)).find(|node| !nodes.all[**node].is_empty());
            let node = node.map(|node| std::mem::take(&mut nodes.all[*node])).unwrap_or_default();
            let (call, device) = (at as u32, devices.remove(&(at as u32)).unwrap_or_default());
            let is_shared = shared.contains(&call) && device.is_empty() && !launching.is_empty();
            all.push(Self { host, node, device, launch: launching.get(&call).copied(), is_shared });
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
        let mut runs = self.host.iter().filter(|part| part.role == CallRole::Run).map(|part| part.row);
        Collective {
            event: stands_for(&self.host),
            node: stands_for(&self.node).or_else(|| self.node.first().map(|part| part.row)),
            outer_node: self.node.first().map(|part| part.row),
            run: runs.next(),
            more_runs: runs.collect(),
            pattern,
            device_events: self.device,
            launch: self.launch,
            is_shared: self.is_shared,
            name,
            facts,
            ..Collective::default()
        }
    }
}

/// Device events that communicate: by the host's call around their launch, and those whose call is
/// not known.
///
/// A kernel communicates by its name or its arguments; one without either where the backend's call
/// itself launched it, and no other.
fn device_events(linked: &LinkedTrace, hosts: &CollectiveCalls) -> (FxHashMap<u32, Vec<u32>>, Vec<u32>) {
    let trace = &linked.trace;
    let (mut called, mut alone): (FxHashMap<u32, Vec<u32>>, _) = (FxHashMap::default(), Vec::new());
    let mut unnamed: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let parts = by_part(&hosts.all);
    for row in 0..trace.events.len() {
        if !trace.is_on_device(row) {
            continue;
        }
        let is_kernel = trace.events.kind[row] == EventKind::Kernel;
        let communicates = match trace.events.kind[row] {
            EventKind::Kernel => is_communication_kernel(trace.event_name(row)) || has_collective(trace, row),
            EventKind::Copy => is_copy_of_backend(linked, row),
            _ => false,
        };
        let launch = linked.links.launch.get(row);
        let call = launch.and_then(|launch| hosts.of_row.get(launch as usize));
        let is_direct = || linked.links.operator.get(row).is_some_and(|owner| parts.contains_key(&owner));
        match call.filter(|call| !is_ambiguous(trace, hosts, *call, launch)) {
            Some(call) if communicates => called.entry(call).or_default().push(row as u32),
            Some(call) if is_kernel && is_direct() => unnamed.entry(call).or_default().push(row as u32),
            None if communicates => alone.push(row as u32),
            _ => {}
        }
    }
    for (call, rows) in unnamed {
        called.entry(call).or_insert(rows);
    }
    (called, alone)
}

/// Whether a launch may be of several records: it is in the operator around them, and in none.
fn is_ambiguous(trace: &Trace, hosts: &CollectiveCalls, call: u32, launch: Option<u32>) -> bool {
    let Some(launch) = launch.filter(|_| hosts.shared.contains(&call)) else { return false };
    let time = |row: u32| (trace.events.start.at(row as usize), trace.events.end(row as usize));
    let records = hosts.all[call as usize].iter().filter(|part| part.role >= CallRole::Record);
    let (start, end) = time(launch);
    !records.map(|part| time(part.row)).any(|(first, last)| first <= start && end <= last)
}

/// The calls of the host in which it launched work, each with a launch.
fn launching_calls(linked: &LinkedTrace, hosts: &CollectiveCalls) -> FxHashMap<u32, u32> {
    let trace = &linked.trace;
    let mut roles: FxHashMap<StrId, bool> = FxHashMap::default();
    let mut found = FxHashMap::default();
    for row in 0..trace.events.len() {
        let Some(call) = hosts.of_row.get(row).filter(|_| trace.events.kind[row] == EventKind::Launch) else {
            continue;
        };
        let name = trace.events.name.at(row);
        if *roles.entry(name).or_insert_with(|| enqueues(trace.strings.text(name))) {
            found.entry(call).or_insert(row as u32);
        }
    }
    found
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

/// Facts of a call: of its operators and records, then the operators' tensors, then the tensors of
/// annotations and runs.
fn call_facts(
    call: &CollectiveCall,
    said: impl Fn(&CollectiveRow) -> CollectiveFacts,
    tensors: impl Fn(&CollectiveRow) -> CollectiveFacts,
) -> CollectiveFacts {
    let outer = |part: &&CollectiveRow| part.role <= CallRole::Record;
    let facts = call.iter().filter(outer).map(&said).fold(CollectiveFacts::default(), CollectiveFacts::or);
    let operators = call.iter().filter(|part| part.role == CallRole::Operator).map(&tensors);
    let facts = operators.fold(facts, CollectiveFacts::or);
    let inner = call.iter().filter(|part| part.role > CallRole::Record);
    let of_inner = inner.map(|part| match tensors(part) {
        // Another pattern has other sizes.
        facts if is_stand_in(call, *part) => facts.element_alone(),
        facts => facts,
    });
    of_inner.fold(facts, CollectiveFacts::or)
}

fn host_facts(trace: &Trace, call: &CollectiveCall) -> CollectiveFacts {
    let said = |part: &CollectiveRow| match part.role {
        CallRole::Operator => CollectiveFacts::of_operator(trace, part.row as usize),
        _ => CollectiveFacts::of_event(trace, part.row as usize),
    };
    let tensors = |part: &CollectiveRow| match part.role {
        CallRole::Operator => CollectiveFacts::of_operator_tensors(trace, *part),
        _ => CollectiveFacts::of_annotation(trace, part.row as usize),
    };
    call_facts(call, said, tensors)
}

fn node_facts(trace: &Trace, call: &CollectiveCall) -> CollectiveFacts {
    let node = |part: &CollectiveRow| &trace.nodes[part.row as usize];
    let said = |part: &CollectiveRow| match part.role {
        CallRole::Operator => CollectiveFacts::of_operator_node(trace, node(part)),
        _ => CollectiveFacts::of_node(trace, part.row as usize),
    };
    let tensors = |part: &CollectiveRow| match part.role {
        CallRole::Operator => CollectiveFacts::of_operator_node_tensors(trace, node(part), *part),
        _ => CollectiveFacts::of_tensors(&trace.strings, node(part)),
    };
    call_facts(call, said, tensors)
}
