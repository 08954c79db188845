//! A trace with its links, and data derived from both on first use.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::annotated_work::AnnotatedWork;
use super::collective::call::communicates;
use super::collective::row::Collectives;
use super::dependency::{self, DataDependencies};
use super::device_time::{self, DeviceTime};
use super::edge::Edge;
use super::enclosing_events::{self, EnclosingEvents};
use super::forward_backward::{self, ForwardBackward};
use super::links::Links;
use super::lost_work::{self, LostWork};
use super::source_file::SourceFile;
use super::step_marker::StepMarker;
use super::{linker, node, node_spans, observed_iteration, overlong, relink, sync};
use crate::error::{Error, ErrorKind};
use crate::id::StrId;
use crate::time::{Dur, TimeRange};
use crate::trace::Trace;
use crate::trace::group::{ProcessGroup, process_groups};
use crate::trace::kind::EventKind;
use crate::trace::node::{Node, NodeSpan};
use crate::trace::tensor::{TensorUse, tensor_uses};
use crate::trace::track::Process;
use crate::warning::Warning;

/// A trace with its links.
#[derive(Debug, Clone, Default)]
pub struct LinkedTrace {
    /// The recording.
    pub trace: Trace,
    /// Its links.
    pub links: Links,
    /// Files of sources of its kernels, if any were given.
    pub sources: Arc<[SourceFile]>,
    pub(super) range: OnceLock<TimeRange>,
    pub(super) processes: OnceLock<FxHashMap<StrId, u32>>,
    pub(super) device_names: OnceLock<Vec<String>>,
    pub(super) depths: OnceLock<Vec<u32>>,
    pub(super) children_ns: OnceLock<Vec<i64>>,
    pub(super) device_time: OnceLock<DeviceTime>,
    pub(super) lost_work: OnceLock<LostWork>,
    pub(super) annotated_work: OnceLock<AnnotatedWork>,
    pub(super) node_device_ns: OnceLock<Vec<Option<i64>>>,
    pub(super) tensors: OnceLock<Vec<TensorUse>>,
    pub(super) dependencies: OnceLock<DataDependencies>,
    pub(super) forward_backward: OnceLock<Vec<ForwardBackward>>,
    pub(super) frames: OnceLock<EnclosingEvents>,
    pub(super) sync_edges: OnceLock<Vec<Edge>>,
    pub(super) edges: OnceLock<Vec<Edge>>,
    pub(super) groups: OnceLock<Vec<ProcessGroup>>,
    pub(super) attrs: OnceLock<Vec<Value>>,
    pub(super) collectives: OnceLock<Collectives>,
}

impl LinkedTrace {
    /// Links a trace.
    pub fn new(trace: Trace) -> Self {
        Self::with_threads(trace, 1)
    }

    /// Links a trace on as many threads as may be made; two are made use of.
    ///
    /// Impossible durations are shortened;
    /// [`recorded`](crate::trace::event::EventTable::recorded) keeps those of the file.
    pub fn with_threads(mut trace: Trace, max_threads: usize) -> Self {
        overlong::shorten(&mut trace);
        let max_threads = if trace.events.len() < WORTH_A_THREAD { 1 } else { max_threads };
        let links = linker::link(&trace, max_threads);
        Self { trace, links, ..Self::default() }
    }

    /// Links a trace with iterations that the user's events mark: those whose names are like one of
    /// `patterns`, in which `*` stands for any text. The trace keeps the patterns.
    ///
    /// # Errors
    /// When no event of the host has such a name.
    pub fn with_iterations(mut trace: Trace, patterns: &[String], max_threads: usize) -> Result<Self, Error> {
        trace.set_iteration_patterns(patterns);
        let linked = Self::with_threads(trace, max_threads);
        if patterns.is_empty() || linked.links.iteration_source.taken == Some(StepMarker::User) {
            return Ok(linked);
        }
        let expected = if linked.trace.has_iterations_by_gaps() {
            String::from("gaps between the calls of a thread that are at least 3 times as long as all others")
        } else {
            format!("host events with a name like one of {patterns:?}")
        };
        Err(ErrorKind::Request { expected, found: String::from("none") }.into())
    }

    /// Links a trace as if one iteration of its longer recording were all that the shorter one
    /// recorded: the one of that number, or the one that fits best.
    ///
    /// Ignores process and record ids, so files of two runs of one program link, too.
    ///
    /// # Errors
    /// When one of the recordings is missing, or the iteration does not fit; then it says how well
    /// others do.
    pub fn relink(mut trace: Trace, iteration: Option<i64>) -> Result<Self, Error> {
        trace.expect_execution()?;
        let text = iteration.map_or_else(|| String::from("null"), |number| number.to_string());
        let (key, value) = (trace.strings.intern(node::ASKED_FOR), trace.strings.intern(&text));
        trace.execution_header.retain(|(other, _)| *other != key);
        trace.execution_header.push((key, value));
        let linked = Self::new(trace);
        if linked.links.nodes.how.is_some() {
            return Ok(linked);
        }
        Err(relink::unfit(&linked.trace, &linked.links.nodes, iteration))
    }

    /// From the first to the last time, as [`Trace::range`] says; computed on first use.
    pub fn range(&self) -> TimeRange {
        *self.range.get_or_init(|| self.trace.range())
    }

    /// The time without the iterations in which the observer of the Execution Trace ran: its
    /// longest part. `None` where the observer ran in none, or in all.
    pub fn clean_range(&self) -> Option<TimeRange> {
        observed_iteration::clean_range(&self.links.iterations, self.range())
    }

    /// Names and place of a process, if the file states any.
    pub(crate) fn process(&self, process: StrId) -> Option<&Process> {
        let all = &self.trace.processes;
        let places = self.processes.get_or_init(|| {
            // The first of equal ones, as they may come again.
            (0..all.len()).rev().map(|at| (all[at].process, at as u32)).collect()
        });
        places.get(&process).map(|at| &all[*at as usize])
    }

    /// The names of the devices, as [`Trace::device_names`] has them.
    pub(crate) fn device_names(&self) -> &[String] {
        self.device_names.get_or_init(|| self.trace.device_names())
    }

    /// Whether all events of a track are the profiler's own: its overhead, and marks of recordings.
    pub(crate) fn is_profilers_own(&self, track: usize) -> bool {
        let kinds = &self.trace.events.kind;
        let mut rows = self.links.nesting.track_rows(track.into()).iter();
        rows.all(|row| matches!(kinds[*row as usize], EventKind::Overhead | EventKind::Other))
    }

    /// How many events are above each event, from parent to parent; computed on first use.
    pub fn depths(&self) -> &[u32] {
        self.depths.get_or_init(|| self.links.nesting.depths())
    }

    /// The lane of each event in its track, as if there were no others than those that are shown;
    /// of these, events of one lane never overlap.
    pub fn lanes(&self, is_shown: &dyn Fn(usize) -> bool) -> Vec<u32> {
        self.links.nesting.lanes(&self.trace, is_shown)
    }

    /// Time in the children of each event, summed, in nanoseconds; computed on first use.
    pub fn children_ns(&self) -> &[i64] {
        self.children_ns.get_or_init(|| self.links.nesting.children_ns(&self.trace.events.dur))
    }

    /// Nodes by iteration, from their linked events, in order of time.
    ///
    /// For Execution Traces that do not say so themselves, as [`edit`](crate::edit) takes it.
    pub fn spans(&self) -> Vec<NodeSpan> {
        node_spans::spans(&self.trace, &self.links)
    }

    /// Device time of host events; computed on first use.
    pub fn device_time(&self) -> &DeviceTime {
        self.device_time.get_or_init(|| device_time::attribute(&self.trace, &self.links))
    }

    /// Times in which lost device work may have run; computed on first use.
    pub fn lost_work(&self) -> &LostWork {
        self.lost_work.get_or_init(|| lost_work::find(&self.trace, &self.links, communicates))
    }

    /// Of each stream on which it is frequent, the device work that ends long after later work, and
    /// the number of all work.
    pub(crate) fn out_of_order_work(&self) -> Vec<(Vec<u32>, usize)> {
        overlong::out_of_order(&self.trace)
    }

    /// The number of the iteration that an event belongs to.
    pub(crate) fn iteration_number(&self, row: usize) -> Option<i64> {
        let at = self.links.iteration.get(row)?;
        Some(self.links.iterations.get(at as usize)?.number)
    }

    /// Device time of the work inside a host event, in nanoseconds; `None` where all of it was
    /// lost, or may be another thread's.
    pub fn known_device_ns(&self, row: usize) -> Option<i64> {
        let is_unknown = || self.lost_work().is_inside(&self.trace, row) || self.has_unclear_work(row);
        Some(self.device_ns(row)).filter(|ns| *ns > 0 || !is_unknown())
    }

    /// How long before its launch device work starts, where that is more than rounding explains.
    pub fn lead(&self, launch: u32, device: u32) -> Option<Dur> {
        let starts = &self.trace.events.start;
        let is_early = self.links.early_work.binary_search(&device).is_ok();
        is_early.then(|| starts.at(launch as usize).since(starts.at(device as usize)))
    }

    /// Device time in each node and all nodes inside it, in nanoseconds, where events tell it; when
    /// first asked for.
    pub fn node_device_ns(&self) -> &[Option<i64>] {
        let sum = || device_time::of_nodes(&self.trace, &self.links.nodes, self.device_time());
        self.node_device_ns.get_or_init(sum)
    }

    /// Uses of tensors by the Execution Trace's nodes; computed on first use.
    pub fn tensors(&self) -> &[TensorUse] {
        self.tensors.get_or_init(|| tensor_uses(&self.trace.nodes, &self.trace.strings))
    }

    /// Data dependencies between nodes of the Execution Trace; computed on first use.
    ///
    /// From `inputs`, `outputs` and `op_schema` of the nodes, called in the order of their ids.
    pub fn data_dependencies(&self) -> &DataDependencies {
        let parents = &self.links.nodes.parent_of_node;
        self.dependencies.get_or_init(|| dependency::data_dependencies(&self.trace, parents, self.tensors()))
    }

    /// Operators of the forward pass with the operators of the backward pass they caused, sorted;
    /// computed on first use.
    ///
    /// From `fwdbwd` flows, and where there is none from `Sequence number` and `Fwd thread id`.
    pub fn forward_backward(&self) -> &[ForwardBackward] {
        let find = || forward_backward::link_forward_backward(&self.trace, &self.links.nesting);
        self.forward_backward.get_or_init(find)
    }

    /// Python frames, modules and annotations that events are for; computed on first use.
    pub fn frames(&self) -> &EnclosingEvents {
        self.frames.get_or_init(|| enclosing_events::find_frames(&self.trace, &self.links, self.forward_backward()))
    }

    /// Waits for device events, by the row of the waiter; computed on first use.
    ///
    /// From `cuda_sync` events: kind, `stream`, `wait_on_stream` and
    /// `wait_on_cuda_event_record_corr_id`. For unreported host waits from times: the work that
    /// ended last during the call ([`EndedInside`](super::LinkMethod::EndedInside)). For unreported
    /// waits between streams: the work that ended before the delayed work began
    /// ([`EndedBefore`](super::LinkMethod::EndedBefore)).
    pub fn sync_edges(&self) -> &[Edge] {
        self.sync_edges.get_or_init(|| sync::sync_edges(&self.trace, &self.links))
    }

    /// All defects: those of the files, then those found while linking.
    pub fn warnings(&self) -> impl Iterator<Item = &Warning> {
        self.trace.warnings.iter().chain(&self.links.warnings)
    }

    /// The process groups; computed on first use.
    pub fn process_groups(&self) -> &[ProcessGroup] {
        self.groups.get_or_init(|| process_groups(&self.trace))
    }

    /// An attribute of a node that has no field, such as those of collectives.
    pub fn node_attr(&self, node: usize, key: &str) -> Option<&Value> {
        let parse = |node: &Node| serde_json::from_str(self.trace.strings.text(node.rest)).unwrap_or_default();
        self.attrs.get_or_init(|| self.trace.nodes.iter().map(parse).collect()).get(node)?.get(key)
    }

    /// Time in an event that is in none of its children, in nanoseconds; a device event's whole
    /// duration.
    pub fn self_ns(&self, row: usize) -> i64 {
        self.trace.events.dur.at(row).0.saturating_sub(self.children_ns()[row]).max(0)
    }
}

/// Fewer events are linked before a second thread would have begun.
pub(super) const WORTH_A_THREAD: usize = 10_000;
