//! Writes the Execution Trace with times and device work (ET+), as `chakra_trace_link` does.
//!
//! A linked node has `inclusive_dur`, `exclusive_dur`, `ts` and `inter_thread_dep` besides its
//! keys. Each kernel, copy or fill that it launched follows as a copy of the node, with other
//! `name`, `cat`, `ph`, `stream` and `parent`. Ids count from 0; times are microseconds. `sync_dep`
//! lists the ids of awaited device work; the waiter is other device work, or the first node of a
//! thread after its wait.

mod exclusive;
mod kernel;
mod number;
mod op;
mod rules;
mod sync;
mod times;
mod wait;

use std::fmt::Write as _;
use std::io;

use super::clean_iteration::num_observed;
use super::execution::write_node;
use super::micros::write_micros;
use super::node_document::{DocumentStyle, NodeDocument};
use crate::json::write_string;
use crate::link::LinkedTrace;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::node::Node;
use kernel::{event, is_device_work};
use number::NodeNumbers;
pub use rules::EtPlusRules;
use sync::SyncPairs;
use times::{ExclusiveTimes, NodeTimes};

/// Counts of written rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EtPlusTally {
    /// Nodes of the Execution Trace.
    pub num_nodes: usize,
    /// Those of them that have times.
    pub num_linked: usize,
    /// Those with the times of an iteration in which the observer ran.
    pub num_observed: usize,
    /// Kernels, copies and fills that were added.
    pub num_device_events: usize,
    /// Device events without a link, because no id leads to a node.
    pub num_left_out: usize,
}

/// Writes the nodes with their links.
///
/// # Errors
/// Those of `out`.
///
/// ```
/// use kinetoscope::write::et_plus::{EtPlusRules, write_et_plus};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let kineto = br#"[{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5, "dur": 2,
///     "args": {"Record function id": 4}}]"#;
/// let execution = br#"{"schema": "1.0.1", "nodes": [{"name": "aten::add", "id": 7, "rf_id": 4, "parent": 7}]}"#;
/// let linked = LinkedTrace::new(read([Input::new(kineto), Input::new(execution)], Limits::default())?);
/// let mut out = Vec::new();
/// write_et_plus(&linked, EtPlusRules::Exact, &mut out).unwrap();
/// assert_eq!(String::from_utf8_lossy(&out), r#"{"schema":"1.0.1","nodes":[
/// {"name":"aten::add","id":0,"rf_id":4,"parent":0,"inclusive_dur":2,"exclusive_dur":2,"ts":5,"inter_thread_dep":null}
/// ]}
/// "#);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn write_et_plus(linked: &LinkedTrace, rules: EtPlusRules, out: &mut dyn io::Write) -> io::Result<EtPlusTally> {
    let times = NodeTimes::new(linked, rules);
    let numbers = NodeNumbers::new(&linked.trace, &times.kernels);
    let style = if rules == EtPlusRules::Exact { DocumentStyle::Lines } else { DocumentStyle::Indented };
    let mut page = NodeDocument::open(&linked.trace, style, out);
    let syncs = match rules {
        EtPlusRules::Exact => SyncPairs::of_trace(linked, &numbers, &times.kernels),
        EtPlusRules::LikeChakra => SyncPairs::default(),
    };
    let mut writer = EtPlusWriter { linked, rules, times, numbers, syncs, text: String::new() };
    for at in 0..linked.trace.nodes.len() {
        let row = writer.numbers.order[at];
        writer.node(row);
        page.push(&writer.text)?;
        for (place, event) in writer.times.kernels.of(row).collect::<Vec<_>>().into_iter().enumerate() {
            writer.device_event(row, event, place);
            page.push(&writer.text)?;
        }
    }
    page.close()?;
    Ok(writer.tally())
}

struct EtPlusWriter<'a> {
    linked: &'a LinkedTrace,
    rules: EtPlusRules,
    times: NodeTimes,
    numbers: NodeNumbers,
    syncs: SyncPairs,
    /// The node that is being written.
    text: String,
}

impl EtPlusWriter<'_> {
    /// Writes a node of the Execution Trace.
    fn node(&mut self, row: u32) {
        let node = self.renumbered(row);
        self.write_open(&node);
        if let Some(event) = event(self.linked, row as usize) {
            self.write_times(event);
            self.write_wait(row);
            self.write_syncs(node.id);
        }
        self.text.push('}');
    }

    /// Writes device work as a copy of its node, of which it is number `place`.
    fn device_event(&mut self, row: u32, event: u32, place: usize) {
        let mut node = self.renumbered(row);
        let parent = node.id;
        let is_flat = is_flat(&self.linked.trace, &node);
        node.id = parent + 1 + place as u64;
        node.name = self.linked.trace.events.name.at(event as usize);
        if !is_flat || self.rules == EtPlusRules::Exact {
            node.parent = Some(parent);
        }
        self.write_open(&node);
        self.write_times(event);
        self.write_wait(row);
        if is_flat {
            // Writing into a `String` cannot fail.
            let _ = write!(self.text, ",\"ctrl_deps\":{parent}");
        }
        self.write_device(event as usize);
        self.write_syncs(node.id);
        self.text.push('}');
    }

    /// A node with new ids.
    fn renumbered(&mut self, row: u32) -> Node {
        let trace = &self.linked.trace;
        let node = &trace.nodes[row as usize];
        let (id, is_exact) = (self.numbers.of_node[row as usize], self.rules == EtPlusRules::Exact);
        let (mut parent, mut fw_parent) = (node.parent, node.fw_parent);
        if is_exact || !is_flat(trace, node) {
            parent = parent.map(|id| self.numbers.of_id(id));
        }
        if is_exact {
            fw_parent = fw_parent.map(|id| if id == 0 { 0 } else { self.numbers.of_id(id) });
        }
        Node { id, parent, fw_parent, ..node.clone() }
    }

    /// Writes a node but for its closing bracket.
    fn write_open(&mut self, node: &Node) {
        self.text.clear();
        write_node(&mut self.text, &self.linked.trace.strings, node);
        self.text.pop();
    }

    /// Writes the times of an event, of the host or of the device.
    fn write_times(&mut self, event: u32) {
        let (trace, at) = (&self.linked.trace, event as usize);
        let (is_fine, is_exact) = (!trace.has_coarse_times, self.rules == EtPlusRules::Exact);
        let has_fraction = |ns: i64| if is_exact { ns % 1000 != 0 } else { is_fine };
        let dur = trace.events.dur.at(at).0;
        self.text.push_str(",\"inclusive_dur\":");
        write_micros(&mut self.text, dur, has_fraction(dur));
        self.text.push_str(",\"exclusive_dur\":");
        match (self.times.place.get(at), &self.times.exclusive) {
            (Some(place), ExclusiveTimes::Exact(own)) => {
                let own = own[place as usize];
                write_micros(&mut self.text, own, has_fraction(own));
            }
            (Some(place), ExclusiveTimes::Float(own)) => {
                let own = own[place as usize];
                let _ = if is_fine { write!(self.text, "{own:?}") } else { write!(self.text, "{own:.0}") };
            }
            (None, _) => write_micros(&mut self.text, dur, has_fraction(dur)),
        }
        self.text.push_str(",\"ts\":");
        write_micros(&mut self.text, trace.events.start.at(at).0.wrapping_sub(trace.base_ns), is_fine);
    }

    /// Writes the node that a node's thread waited for, when that is an earlier one.
    fn write_wait(&mut self, row: u32) {
        let nodes = &self.linked.trace.nodes;
        let place = event(self.linked, row as usize).and_then(|event| self.times.place.get(event as usize));
        let other = place.and_then(|place| self.times.waits[place as usize]);
        let other = other.and_then(|event| self.linked.links.nodes.node_of_event.get(event as usize));
        let earlier = other.filter(|other| nodes[*other as usize].id < nodes[row as usize].id);
        self.text.push_str(",\"inter_thread_dep\":");
        let _ = match earlier {
            Some(other) => write!(self.text, "{}", self.numbers.of_node[other as usize]),
            None => write!(self.text, "null"),
        };
    }

    /// Writes awaited device work, if any.
    fn write_syncs(&mut self, id: u64) {
        for (place, source) in self.syncs.of(id).enumerate() {
            let _ = write!(self.text, "{}{source}", if place == 0 { ",\"sync_dep\":[" } else { "," });
        }
        if self.syncs.of(id).next().is_some() {
            self.text.push(']');
        }
    }

    /// Writes the keys of device work.
    fn write_device(&mut self, event: usize) {
        let trace = &self.linked.trace;
        let (args, strings) = (trace.events.args(event), &trace.strings);
        self.text.push_str(",\"cat\":");
        write_string(&mut self.text, strings.text(trace.events.category.at(event)));
        self.text.push_str(",\"ph\":\"X\",\"stream\":");
        let _ = match trace.args.integer(strings, args, ArgKey::Stream) {
            Some(stream) => write!(self.text, "{stream}"),
            None => write!(self.text, "null"),
        };
        let is_named = self.rules == EtPlusRules::Exact || trace.event_name(event).contains("ncclDevKernel");
        let mut group = String::new();
        if is_named && trace.args.write_text(strings, args, ArgKey::GroupName, &mut group) {
            self.text.push_str(",\"pg_name\":");
            write_string(&mut self.text, &group);
        }
    }

    fn tally(&self) -> EtPlusTally {
        let trace = &self.linked.trace;
        let num_device_events = self.times.kernels.len();
        let num_all = (0..trace.events.len()).filter(|row| is_device_work(self.linked, *row)).count();
        let events = || (0..trace.nodes.len()).filter_map(|row| event(self.linked, row));
        EtPlusTally {
            num_nodes: trace.nodes.len(),
            num_linked: events().count(),
            num_observed: num_observed(self.linked, events()),
            num_device_events,
            num_left_out: num_all.saturating_sub(num_device_events),
        }
    }
}

/// Whether a node is laid out as in 1.0.1, with a parent in the place of `ctrl_deps`.
fn is_flat(trace: &Trace, node: &Node) -> bool {
    !trace.strings.text(node.layout).contains("\"ctrl_deps\":")
}
