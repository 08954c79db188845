//! Converts a linked trace to the graph that simulators read.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::attributes::AttributeWriter;
use super::comm::{ChakraCollective, ChakraCollectives};
use super::edges::ChakraEdges;
use super::exclusive::exclusive;
use super::literal::python_literal;
use super::vertex::{ChakraVertex, ChakraVertices, VertexOrigin, VertexRunner};
use crate::chakra::{Chakra, ChakraMetadata, ChakraNode, Dependency, NodeType};
use crate::error::{Error, ErrorKind, Position};
use crate::id::StrId;
use crate::link::{Collectives, LinkedTrace};
use crate::time::Ts;
use crate::trace::arg_key::ArgKey;
use crate::trace::node::{self, NodeKind, NodeValues};
use crate::warning::WarningKind;
use crate::write::clean_iteration::num_observed;

/// Makes the Chakra trace of a rank: a node for each node of the Execution Trace and each event of
/// a device.
///
/// * Ids ascend with time, and a node depends only on smaller ids, so the graph has no cycle.
///   [`Chakra::warnings`] counts the dependencies left out for this or another reason.
/// * `start_time_micros` and `duration_micros` are rounded; the attributes `start_ns` and
///   `duration_ns` are exact. A host node's duration is the time in none of the nodes in it. Where
///   nothing was measured, a node starts when the one before it did and takes no time.
/// * `ctrl_deps` is the enclosing node, or the launching one of a device event. `data_deps`
///   contains: that node; the previous one of the thread or stream; writers of the tensors that the
///   node reads; the forward node of a backward node; the last node of another thread when this one
///   first began or resumed after a pause; awaited nodes.
/// * A communication is a node of its own type, and no operation of the host: the kernel that did
///   it, or else the host's record of it. A call of one rank alone is none.
/// * `comm_size` is what goes in. Of an exchange with unequal parts, it is what leaves the rank;
///   the parts are attributes.
///
/// # Errors
/// When there is no Execution Trace.
pub fn chakra_from_trace(linked: &LinkedTrace) -> Result<Chakra, Error> {
    chakra_from_collectives(linked, linked.collectives())
}

/// Makes the Chakra trace of a rank as [`chakra_from_trace`] does, of collectives whose groups
/// other ranks told.
///
/// # Errors
/// When there is no Execution Trace.
pub fn chakra_from_collectives(linked: &LinkedTrace, collectives: &Collectives) -> Result<Chakra, Error> {
    if linked.trace.nodes.is_empty() {
        let (expected, found) = ("an Execution Trace, with or without a Kineto trace", "only a Kineto trace");
        return Err(ErrorKind::Unsupported { expected, found: found.into(), position: Position::default() }.into());
    }
    let vertices = ChakraVertices::of(linked);
    let edges = ChakraEdges::of(linked, &vertices);
    let communications = ChakraCollectives::of(linked, &vertices, collectives);
    let mut graph = ChakraGraph {
        linked,
        exclusive: exclusive(linked, &vertices),
        communications,
        chakra: Chakra::default(),
        literals: FxHashMap::default(),
    };
    graph.add_metadata();
    (0..).zip(&vertices.all).for_each(|(place, vertex)| graph.add(place, vertex));
    graph.add_edges(&edges);
    graph.count(&vertices, &edges);
    Ok(graph.chakra)
}

struct ChakraGraph<'a> {
    linked: &'a LinkedTrace,
    /// Nanoseconds of each vertex that are of none inside it.
    exclusive: Vec<i64>,
    communications: ChakraCollectives<'a>,
    chakra: Chakra,
    literals: FxHashMap<StrId, StrId>,
}

/// Ids count from 1, so that no message is empty.
fn id(place: u32) -> u64 {
    u64::from(place) + 1
}

/// Whole microseconds, rounded; none below 0.
fn micros(ns: i64) -> u64 {
    (ns.max(0) as u64 + 500) / 1000
}

impl ChakraGraph<'_> {
    fn add_metadata(&mut self) {
        let trace = &self.linked.trace;
        let mut version = String::new();
        let mut out = AttributeWriter::of(&mut self.chakra);
        for (key, json) in &trace.execution_header {
            let (key, value) = (trace.strings.text(*key), serde_json::from_str(trace.strings.text(*json)));
            match value.unwrap_or_default() {
                Value::Null => {}
                Value::String(text) => {
                    if let Some((_, chakra)) = text.split_once("chakra.").filter(|_| key == "schema") {
                        chakra.clone_into(&mut version);
                    }
                    out.string(key, &text);
                }
                Value::Number(number) if number.is_u64() => out.uint64(key, number.as_u64().unwrap_or_default()),
                other => out.string(key, &other.to_string()),
            }
        }
        let job = trace.header_value("distributedInfo").unwrap_or_default();
        for key in ["rank", "world_size"] {
            job.get(key).and_then(Value::as_i64).into_iter().for_each(|value| out.int64(key, value));
        }
        let attributes = out.range();
        self.chakra.metadata = ChakraMetadata { version, attributes, irregular: None };
    }

    fn add(&mut self, place: u32, vertex: &ChakraVertex) {
        let (linked, trace) = (self.linked, &self.linked.trace);
        let node = match vertex.origin {
            VertexOrigin::Node(row) => Some(row),
            VertexOrigin::Event(_) => vertex.host,
        };
        let node = node.map(|row| &trace.nodes[row as usize]);
        let name = match vertex.origin {
            VertexOrigin::Node(row) => trace.strings.text(trace.nodes[row as usize].name),
            VertexOrigin::Event(row) => trace.event_name(row as usize),
        };
        let communication = self.communications.at(place);
        let is_groups = !vertex.is_on_device && node.is_some_and(|node| node.kind(name) == NodeKind::ProcessGroup);
        let other = if is_groups { NodeType::METADATA } else { NodeType::COMP };
        let exclusive = self.exclusive[place as usize];
        let start = vertex.measured.map(|(start, _)| start).or(vertex.time);
        let mut out = AttributeWriter::of(&mut self.chakra);
        node.into_iter().for_each(|node| write_record(node, linked, &mut out));
        out.bool("is_cpu_op", !vertex.is_on_device && communication.is_none());
        out.int64("stream", stream(linked, vertex));
        communication.into_iter().for_each(|communication| communication.write(&mut out));
        write_origin(vertex, exclusive, linked, &mut out);
        let attributes = out.range();
        let inputs = node.map_or([StrId::EMPTY; 3], |node| self.literals(&node.inputs));
        let outputs = node.map_or([StrId::EMPTY; 3], |node| self.literals(&node.outputs));
        let node = ChakraNode {
            id: id(place),
            name: self.chakra.strings.intern(name),
            node_type: communication.map_or(other, ChakraCollective::node_type),
            start_micros: micros(start.unwrap_or_default().0),
            dur_micros: micros(exclusive),
            inputs,
            outputs,
            attributes,
            irregular: None,
        };
        self.chakra.nodes.push(node);
    }

    fn literals(&mut self, values: &NodeValues) -> [StrId; 3] {
        let (source, strings) = (&self.linked.trace.strings, &mut self.chakra.strings);
        [values.values, values.shapes, values.types]
            .map(|id| *self.literals.entry(id).or_insert_with(|| strings.intern(&python_literal(source.text(id)))))
    }

    fn add_edges(&mut self, edges: &ChakraEdges) {
        let (mut control, mut data) = (edges.control.iter().peekable(), edges.data.iter().peekable());
        for target in 0..self.chakra.nodes.len() as u32 {
            for (list, is_data) in [(&mut control, false), (&mut data, true)] {
                while let Some((_, source)) = list.next_if(|(waiting, _)| *waiting == target) {
                    self.chakra.dependencies.push(Dependency { source: id(*source), target, is_data });
                }
            }
        }
    }

    /// Reports defects.
    fn count(&mut self, vertices: &ChakraVertices, edges: &ChakraEdges) {
        let warnings = &mut self.chakra.warnings;
        let node = edges.backward.first().map(|(target, _)| id(*target));
        warnings.push_many(WarningKind::BackwardDependency, edges.backward.len() as u64, || Position {
            node,
            ..Position::default()
        });
        let events = &self.linked.trace.events;
        let event = vertices.outside.first().map(|row| u64::from(events.position.at(*row as usize)));
        warnings.push_many(WarningKind::DeviceEventOutside, vertices.outside.len() as u64, || Position {
            event,
            ..Position::default()
        });
        for (how, number) in &self.communications.simplified {
            warnings.push_many(how.warning(), *number, Position::default);
        }
        let without = vertices.all.iter().filter(|vertex| vertex.is_on_device && vertex.host.is_none());
        warnings.push_many(WarningKind::DeviceEventWithoutNode, without.count() as u64, Position::default);
        let unmeasured = vertices.all.iter().filter(|vertex| vertex.measured.is_none());
        warnings.push_many(WarningKind::NodeWithoutTime, unmeasured.count() as u64, Position::default);
        let nodes = &self.linked.links.nodes;
        let events = (0..self.linked.trace.nodes.len()).filter_map(|row| nodes.event_of_node.get(row));
        warnings.push_many(WarningKind::ObservedTime, num_observed(self.linked, events) as u64, Position::default);
    }
}

/// Attributes from the Execution Trace; device events take those of the launching node.
fn write_record(node: &node::Node, linked: &LinkedTrace, out: &mut AttributeWriter<'_>) {
    let numbers = [
        ("rf_id", Some(node.record_id)),
        ("fw_parent", Some(node.fw_parent.unwrap_or(0))),
        ("seq_id", None),
        ("scope", Some(node.scope.unwrap_or(0))),
        ("tid", Some(node.thread.unwrap_or(0))),
        ("fw_tid", Some(node.fw_thread.unwrap_or(0))),
    ];
    for (name, value) in numbers {
        out.int64(name, value.map_or(node.seq_num, |value| i64::try_from(value).unwrap_or(i64::MAX)));
    }
    out.string("op_schema", linked.trace.strings.text(node.schema));
}

/// The number of a stream, and 0 for a thread.
fn stream(linked: &LinkedTrace, vertex: &ChakraVertex) -> i64 {
    let stream = match vertex.runner {
        VertexRunner::Track(track) => linked.trace.track(track).stream.and_then(|stream| stream.stream),
        VertexRunner::Stream(stream) => stream,
        VertexRunner::Thread(_) => None,
    };
    stream.unwrap_or(0)
}

/// The original ids, and the exact times.
fn write_origin(vertex: &ChakraVertex, exclusive: i64, linked: &LinkedTrace, out: &mut AttributeWriter<'_>) {
    let trace = &linked.trace;
    if let Some((Ts(start), dur)) = vertex.measured {
        out.int64("start_ns", start);
        out.int64("duration_ns", exclusive);
        out.int64("inclusive_ns", dur.0);
    }
    let event = match vertex.origin {
        VertexOrigin::Node(row) => {
            out.uint64("et_id", trace.nodes[row as usize].id);
            linked.links.nodes.event_of_node.get(row as usize)
        }
        VertexOrigin::Event(row) => Some(row),
    };
    vertex.kind.into_iter().for_each(|kind| out.string("kind", kind.name()));
    let Some(event) = event.map(|event| event as usize) else { return };
    out.int64("event_id", i64::from(trace.events.position.at(event)));
    if !vertex.is_on_device {
        return;
    }
    let device = trace.device(event);
    let argument = |key| trace.args.integer(&trace.strings, trace.events.args(event), key);
    let known =
        [("device", device), ("correlation", argument(ArgKey::Correlation)), ("bytes", argument(ArgKey::Bytes))];
    for (name, value) in known {
        value.into_iter().for_each(|value| out.int64(name, value));
    }
}
