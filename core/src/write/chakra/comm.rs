//! Writes collectives with the attributes of the schema.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::attributes::AttributeWriter;
use super::vertex::{ChakraVertices, VertexOrigin};
use crate::chakra::NodeType;
use crate::column::OptionalColumn;
use crate::link::{Collective, Collectives, LinkedTrace};
use crate::trace::collective::CollectivePattern;
use crate::trace::kind::EventKind;
use crate::warning::WarningKind;

/// The communications among the vertices.
#[derive(Debug)]
pub(super) struct ChakraCollectives<'a> {
    of_vertex: FxHashMap<u32, ChakraCollective<'a>>,
    /// Simplifications: communications that the schema has no word for, and others.
    pub(super) simplified: BTreeMap<SimplifiedCollective, u64>,
}

/// How a communication is less in the schema than in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SimplifiedCollective {
    /// The schema has no word for it: a computation, to it.
    Unknown,
    /// It is of one rank alone.
    Local,
    /// Its parts are unequal.
    Uneven,
    /// Its size is not known.
    Sizeless,
    /// Its group is not named, and may be several.
    Groupless,
}

impl SimplifiedCollective {
    pub(super) fn warning(self) -> WarningKind {
        match self {
            Self::Unknown => WarningKind::UnknownCollective,
            Self::Local => WarningKind::LocalCollective,
            Self::Uneven => WarningKind::UnevenCollective,
            Self::Sizeless => WarningKind::CollectiveWithoutSize,
            Self::Groupless => WarningKind::CollectiveWithoutGroup,
        }
    }
}

/// A vertex's part in a communication.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChakraCollective<'a> {
    collective: &'a Collective,
    /// Index and number of the vertices of the collective.
    part: (i64, i64),
    tag: i64,
}

impl<'a> ChakraCollectives<'a> {
    pub(super) fn of(linked: &'a LinkedTrace, vertices: &ChakraVertices, all: &'a Collectives) -> Self {
        let mut found = Self { of_vertex: FxHashMap::default(), simplified: BTreeMap::new() };
        let has_groups = has_several_groups(linked, all);
        let mut counts: FxHashMap<_, i64> = FxHashMap::default();
        let kernels = kernels_among_nodes(linked, vertices, all);
        for collective in &all.rows {
            let places = places(linked, vertices, collective, &kernels);
            let Some(pattern) = collective.pattern.filter(|pattern| node_type(*pattern).is_some()) else {
                found.count(SimplifiedCollective::Unknown, !places.is_empty());
                continue;
            };
            if collective.is_local {
                found.count(SimplifiedCollective::Local, !places.is_empty());
                continue;
            }
            // Both sides count the messages between them; of a collective, all ranks know the
            // sequence number.
            let ends = pattern.is_p2p().then_some((pattern, collective.src_rank, collective.dst_rank));
            let count = counts.entry((&collective.facts.group_name, ends)).or_default();
            let tag = collective.facts.seq.filter(|_| ends.is_none()).unwrap_or(*count);
            *count += 1;
            let num_parts = places.len() as i64;
            let is_there = !places.is_empty();
            found.count(SimplifiedCollective::Uneven, is_there && collective.is_uneven());
            let has_size = !pattern.has_message() || collective.in_bytes().or(collective.out_bytes()).is_some();
            found.count(SimplifiedCollective::Sizeless, is_there && !has_size);
            let has_group = collective.facts.group_name.is_some() || !has_groups || ends.is_some();
            found.count(SimplifiedCollective::Groupless, is_there && !has_group);
            for (part, place) in (0..).zip(places) {
                found.of_vertex.insert(place, ChakraCollective { collective, part: (part, num_parts), tag });
            }
        }
        found
    }

    fn count(&mut self, how: SimplifiedCollective, is_so: bool) {
        if is_so {
            *self.simplified.entry(how).or_default() += 1;
        }
    }

    pub(super) fn at(&self, place: u32) -> Option<ChakraCollective<'a>> {
        self.of_vertex.get(&place).copied()
    }
}

impl ChakraCollective<'_> {
    pub(super) fn node_type(self) -> NodeType {
        self.collective.pattern.and_then(node_type).unwrap_or(NodeType::COMP)
    }

    /// Writes the attributes that simulators read, in their types, then all other facts.
    pub(super) fn write(self, out: &mut AttributeWriter<'_>) {
        let collective = self.collective;
        let facts = &collective.facts;
        let bytes = |elems: Option<i64>| elems?.checked_mul(facts.elem_bytes?).filter(|bytes| *bytes >= 0);
        let (in_bytes, out_bytes) = (bytes(facts.in_elems), bytes(facts.out_elems));
        if let Some(comm_type) = collective.pattern.and_then(comm_type) {
            out.int64("comm_type", comm_type);
        }
        // A part that stays on the rank moves nothing.
        let exchanged = collective.exchanged_bytes().filter(|_| collective.is_uneven());
        let sizes = exchanged.map_or([in_bytes, out_bytes], |bytes| bytes.map(Some));
        out.int64("comm_size", self.share(sizes[0].filter(|bytes| *bytes > 0).or(sizes[1]).unwrap_or(0).max(0)));
        if let Some(name) = facts.group_name.as_deref().filter(|name| !name.is_empty()) {
            out.string("pg_name", name);
        }
        out.int32("comm_tag", self.tag);
        for (name, rank) in [("comm_src", collective.src_rank), ("comm_dst", collective.dst_rank)] {
            rank.into_iter().for_each(|rank| out.int32(name, rank));
        }
        out.string("collective", collective.name.as_deref().unwrap_or_default());
        let counts = [
            ("in_bytes", in_bytes.map(|bytes| self.share(bytes))),
            ("out_bytes", out_bytes.map(|bytes| self.share(bytes))),
            ("pg_size", facts.group_size),
            ("comm_root", collective.root_rank),
            ("comm_seq", facts.seq),
        ];
        for (name, value) in counts {
            value.into_iter().for_each(|value| out.int64(name, value));
        }
        facts.dtype.iter().for_each(|dtype| out.string("dtype", dtype));
        if collective.is_uneven() {
            for (name, split) in [("in_split_size", &facts.in_split), ("out_split_size", &facts.out_split)] {
                split.iter().for_each(|split| out.string(name, split));
            }
        }
    }

    /// This vertex's share of the bytes: several vertices of a collective carry all together.
    fn share(self, bytes: i64) -> i64 {
        let (part, num_parts) = self.part;
        bytes / num_parts + i64::from(part < bytes % num_parts)
    }
}

/// Whether a communication without a named group may be of several groups.
fn has_several_groups(linked: &LinkedTrace, all: &Collectives) -> bool {
    let groups = linked.process_groups().iter().filter(|group| group.size != Some(1));
    let ranks: FxHashSet<_> = groups.map(|group| (&group.ranks, group.size)).collect();
    let rows = all.rows.iter().filter(|row| !row.is_local);
    let sizes: FxHashSet<_> = rows.filter_map(|row| row.facts.group_size).collect();
    let is_of_all = |size: &i64| linked.trace.num_ranks().is_none_or(|num_ranks| num_ranks == *size);
    ranks.len() > 1 || sizes.len() > 1 || !sizes.iter().all(is_of_all)
}

/// The vertices of a collective: its device events, else its host runs, else its call.
fn places(
    linked: &LinkedTrace,
    vertices: &ChakraVertices,
    collective: &Collective,
    kernels: &FxHashMap<u32, Vec<u32>>,
) -> Vec<u32> {
    let devices = collective.device_events.iter().filter_map(|row| vertices.of_event.get(*row as usize));
    let devices: Vec<u32> = devices.collect();
    if !devices.is_empty() {
        return devices;
    }
    if let Some(kernels) = collective.node.and_then(|node| kernels.get(&node)) {
        return kernels.clone();
    }
    let node_of = |event: u32| linked.links.nodes.node_of_event.get(event as usize);
    let runs: Vec<u32> = collective.runs().filter_map(|run| vertices.node(node_of(run)?)).collect();
    if !runs.is_empty() {
        return runs;
    }
    let node = collective.node.or_else(|| node_of(collective.event?));
    node.and_then(|node| vertices.node(node)).into_iter().collect()
}

/// Kernels that stand among the nodes, as in Execution Traces that were linked before, by the calls
/// that they are in.
fn kernels_among_nodes(linked: &LinkedTrace, vertices: &ChakraVertices, all: &Collectives) -> FxHashMap<u32, Vec<u32>> {
    let calls: FxHashSet<u32> = all.rows.iter().filter_map(|row| row.node).collect();
    let mut call_around = OptionalColumn::empty(linked.trace.nodes.len());
    let mut kernels: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (place, vertex) in (0..).zip(&vertices.all) {
        let VertexOrigin::Node(row) = vertex.origin else { continue };
        let parent = linked.links.nodes.parent_of_node.get(row as usize);
        let inherited = parent.and_then(|parent| call_around.get(parent as usize));
        let Some(call) = calls.get(&row).copied().or(inherited) else { continue };
        call_around.set(row as usize, call);
        if vertex.kind == Some(EventKind::Kernel) {
            kernels.entry(call).or_default().push(place);
        }
    }
    kernels
}

fn node_type(pattern: CollectivePattern) -> Option<NodeType> {
    match pattern {
        CollectivePattern::Send => Some(NodeType::COMM_SEND),
        CollectivePattern::Recv => Some(NodeType::COMM_RECV),
        other => comm_type(other).map(|_| NodeType::COMM_COLL),
    }
}

/// The schema's number of a collective.
fn comm_type(pattern: CollectivePattern) -> Option<i64> {
    match pattern {
        CollectivePattern::AllReduce => Some(0),
        CollectivePattern::Reduce => Some(1),
        CollectivePattern::AllGather => Some(2),
        CollectivePattern::Gather => Some(3),
        CollectivePattern::Scatter => Some(4),
        CollectivePattern::Broadcast => Some(5),
        CollectivePattern::AllToAll => Some(6),
        CollectivePattern::ReduceScatter => Some(7),
        CollectivePattern::Barrier => Some(9),
        CollectivePattern::Send
        | CollectivePattern::Recv
        | CollectivePattern::Coalesced
        | CollectivePattern::Wait
        | CollectivePattern::Init => None,
    }
}
