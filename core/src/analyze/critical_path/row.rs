//! Tables of the critical path: its steps, their bounds, sums by name, and the graph.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::bound::{BoundFinder, PathBound};
use super::graph::{PathEdge, PathKind};
use super::path::{CriticalPath, EMPTY};
use super::what_if::WhatIf;
use crate::analyze::result::AnalysisResult;
use crate::analyze::selection::Selection;
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Column, Table, boolean, float, int, put, put_name, text};
use crate::time::{Ts, add_ns};
use crate::trace::Trace;
use crate::trace::track::Stream;

/// A step of the critical path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRow {
    /// When it began.
    pub start: Ts,
    /// Its contribution to the length.
    pub dur_ns: i64,
    /// The kind of its edge.
    pub kind: PathKind,
    /// Its bound.
    pub bound: PathBound,
    /// Id of the event that it is put to.
    pub id: u32,
    /// Its name.
    pub name: Arc<str>,
    /// Its thread, as the file writes it; of a host event.
    pub thread: Arc<str>,
    /// Its stream; of device work.
    pub stream: Option<Stream>,
}

static TABLE: Table<Vec<PathRow>> =
    Table { name: "critical_path", doc: "a step of the critical path, in order", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<PathRow>>] = &[
    int("start_ns", |rows, at| Some(rows[at].start.0)),
    int("dur_ns", |rows, at| Some(rows[at].dur_ns)),
    text("kind", |rows, at, out| put_name(out, rows[at].kind.name())),
    text("bound_by", |rows, at, out| put_name(out, rows[at].bound.name())),
    int("id", |rows, at| Some(rows[at].id.into())),
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    text("thread", |rows, at, out| put(out, &rows[at].thread)),
    int("device", |rows, at| rows[at].stream?.device),
    int("stream", |rows, at| rows[at].stream?.stream),
];

/// Steps of the path that one thing bounds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoundRow {
    pub(crate) bound: PathBound,
    pub(crate) total_ns: i64,
    pub(crate) share: f64,
}

pub(crate) static BOUND: Table<Vec<BoundRow>> = Table {
    name: "critical_path_bound",
    doc: "the part of the critical path that one resource bounds",
    num_rows: Vec::len,
    columns: &[
        text("bound_by", |rows, at, out| put_name(out, rows[at].bound.name())),
        int("total_ns", |rows, at| Some(rows[at].total_ns)),
        float("share", |rows, at| Some(rows[at].share)),
    ],
};

/// Steps of the path that are put to events of one name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PathNameRow {
    name: String,
    kind: PathKind,
    count: u64,
    total_ns: i64,
    share: f64,
}

pub(crate) static NAMES: Table<Vec<PathNameRow>> = Table {
    name: "critical_path_operators",
    doc: "all steps of the critical path that belong to events of one name",
    num_rows: Vec::len,
    columns: &[
        text("name", |rows, at, out| put_name(out, &rows[at].name)),
        text("kind", |rows, at, out| put_name(out, rows[at].kind.name())),
        int("count", |rows, at| Some(rows[at].count as i64)),
        int("total_ns", |rows, at| Some(rows[at].total_ns)),
        float("share", |rows, at| Some(rows[at].share)),
    ],
};

static WHAT_IF: Table<Vec<WhatIf>> = Table {
    name: "critical_path_length",
    doc: "the length of the critical path, recorded and estimated",
    num_rows: Vec::len,
    columns: &[
        int("length_ns", |rows, at| Some(rows[at].length_ns)),
        int("span_ns", |rows, at| Some(rows[at].span_ns)),
        text("what_if", |rows, at, out| rows[at].name.as_ref().is_some_and(|name| put_name(out, name))),
        float("factor", |rows, at| rows[at].name.as_ref().map(|_| rows[at].factor)),
        int("num_events", |rows, at| rows[at].name.as_ref().map(|_| rows[at].num_events as i64)),
        int("new_length_ns", |rows, at| rows[at].name.as_ref().map(|_| rows[at].new_length_ns)),
        int("saved_ns", |rows, at| {
            rows[at].name.as_ref().map(|_| rows[at].length_ns.saturating_sub(rows[at].new_length_ns))
        }),
    ],
};

/// A node of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PathNodeRow {
    id: u32,
    is_start: bool,
    time: Ts,
}

static NODES: Table<Vec<PathNodeRow>> = Table {
    name: "critical_path_nodes",
    doc: "a node of the dependency graph: the start or the end of an event",
    num_rows: Vec::len,
    columns: &[
        int("node", |_, at| Some(at as i64)),
        int("id", |rows, at| Some(rows[at].id.into())),
        boolean("is_start", |rows, at| Some(rows[at].is_start)),
        int("time_ns", |rows, at| Some(rows[at].time.0)),
    ],
};

/// An edge of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PathEdgeRow {
    source: u32,
    target: u32,
    weight_ns: i64,
    kind: PathKind,
    id: u32,
    is_critical: bool,
}

static EDGES: Table<Vec<PathEdgeRow>> = Table {
    name: "critical_path_edges",
    doc: "an edge of the dependency graph: the second node waited for the first",
    num_rows: Vec::len,
    columns: &[
        int("source", |rows, at| Some(rows[at].source.into())),
        int("target", |rows, at| Some(rows[at].target.into())),
        int("weight_ns", |rows, at| Some(rows[at].weight_ns)),
        text("kind", |rows, at, out| put_name(out, rows[at].kind.name())),
        int("id", |rows, at| Some(rows[at].id.into())),
        boolean("is_critical", |rows, at| Some(rows[at].is_critical)),
    ],
};

/// The path and its graph as tables; each is computed on first use.
pub(super) fn answer(selection: &Selection<'_>, path: CriticalPath, what_if: WhatIf) -> AnalysisResult {
    let reason = path.path.is_empty().then_some(EMPTY);
    let lengths = if path.path.is_empty() { Vec::new() } else { vec![what_if] };
    let found = Arc::new((Arc::clone(selection.linked), path));
    AnalysisResult::with(TABLE.later(made(&found, steps)), reason)
        .and_later(&BOUND, made(&found, bounds))
        .and_later(&NAMES, made(&found, by_name))
        .and(&WHAT_IF, lengths)
        .and_later(&NODES, made(&found, nodes))
        .and_later(&EDGES, made(&found, edges))
}

/// Rows that are going to be made of a path.
fn made<R: 'static>(
    found: &Arc<(Arc<LinkedTrace>, CriticalPath)>,
    make: fn(&LinkedTrace, &CriticalPath) -> Vec<R>,
) -> impl FnOnce() -> Vec<R> + Send + 'static {
    let found = Arc::clone(found);
    move || make(&found.0, &found.1)
}

/// The steps of the path, in order.
pub fn rows(selection: &Selection<'_>, path: &CriticalPath) -> Vec<PathRow> {
    steps(selection.linked, path)
}

fn steps(linked: &LinkedTrace, path: &CriticalPath) -> Vec<PathRow> {
    let mut steps = PathRowBuilder::of(linked);
    let row = |edge: &PathEdge| steps.row(edge, path.graph.nodes[edge.source as usize].time);
    path.steps().map(row).collect()
}

fn bounds(linked: &LinkedTrace, path: &CriticalPath) -> Vec<BoundRow> {
    let bounds = BoundFinder::of(linked);
    by_bound(path.steps().map(|edge| (bounds.bound(edge), edge.weight_ns)))
}

/// Makes steps of edges; a text is kept once, for paths are long and names few.
pub(super) struct PathRowBuilder<'a> {
    trace: &'a Trace,
    bounds: BoundFinder<'a>,
    texts: FxHashMap<StrId, Arc<str>>,
}

impl<'a> PathRowBuilder<'a> {
    pub(super) fn of(linked: &'a LinkedTrace) -> Self {
        Self { trace: &linked.trace, bounds: BoundFinder::of(linked), texts: FxHashMap::default() }
    }

    /// An edge of the path as a step that began at a time.
    pub(super) fn row(&mut self, edge: &PathEdge, start: Ts) -> PathRow {
        let event = edge.event as usize;
        let track = self.trace.track(self.trace.events.track.at(event));
        PathRow {
            start,
            dur_ns: edge.weight_ns,
            kind: edge.kind,
            bound: self.bounds.bound(edge),
            id: self.trace.events.position.at(event),
            name: self.text(self.trace.events.name.at(event)),
            thread: if track.stream.is_none() { self.text(track.thread) } else { Arc::default() },
            stream: track.stream,
        }
    }

    fn text(&mut self, id: StrId) -> Arc<str> {
        Arc::clone(self.texts.entry(id).or_insert_with(|| self.trace.strings.text(id).into()))
    }
}

/// Sums steps, each with bound and weight, by bound: the largest share first.
pub(crate) fn by_bound(steps: impl Iterator<Item = (PathBound, i64)>) -> Vec<BoundRow> {
    let mut totals = [0_i64; PathBound::ALL.len()];
    steps.for_each(|(bound, dur_ns)| add_ns(&mut totals[bound as usize], dur_ns));
    let all_ns = crate::time::sum_ns(totals).max(1) as f64;
    let bounds = PathBound::ALL.into_iter().zip(totals).filter(|(_, total_ns)| *total_ns > 0);
    let mut bounds: Vec<_> =
        bounds.map(|(bound, total_ns)| BoundRow { bound, total_ns, share: total_ns as f64 / all_ns }).collect();
    sort::by_key(&mut bounds, |row| std::cmp::Reverse(row.total_ns));
    bounds
}

fn by_name(linked: &LinkedTrace, path: &CriticalPath) -> Vec<PathNameRow> {
    let trace = &linked.trace;
    let mut groups: FxHashMap<(StrId, PathKind), (u64, i64)> = FxHashMap::default();
    let mut counted: FxHashSet<(u32, PathKind)> = FxHashSet::default();
    for step in path.steps().filter(|step| step.weight_ns > 0) {
        let (count, total_ns) = groups.entry((trace.events.name.at(step.event as usize), step.kind)).or_default();
        *count += u64::from(counted.insert((step.event, step.kind)));
        add_ns(total_ns, step.weight_ns);
    }
    let all_ns = crate::time::sum_ns(groups.values().map(|(_, total_ns)| *total_ns)).max(1) as f64;
    let row = |((name, kind), (count, total_ns)): ((StrId, PathKind), (u64, i64))| PathNameRow {
        name: trace.strings.text(name).to_owned(),
        kind,
        count,
        total_ns,
        share: total_ns as f64 / all_ns,
    };
    let mut names: Vec<_> = groups.into_iter().map(row).collect();
    sort::by(&mut names, |a, b| b.total_ns.cmp(&a.total_ns).then_with(|| (&a.name, a.kind).cmp(&(&b.name, b.kind))));
    names
}

fn nodes(linked: &LinkedTrace, path: &CriticalPath) -> Vec<PathNodeRow> {
    let ids = &linked.trace.events.position;
    let nodes = path.graph.nodes.iter();
    nodes
        .map(|node| PathNodeRow { id: ids.at(node.event as usize), is_start: node.is_start, time: node.time })
        .collect()
}

fn edges(linked: &LinkedTrace, path: &CriticalPath) -> Vec<PathEdgeRow> {
    let ids = &linked.trace.events.position;
    let mut is_critical = vec![false; path.graph.edges.len()];
    path.path.iter().for_each(|edge| is_critical[*edge as usize] = true);
    let edges = path.graph.edges.iter().zip(is_critical).map(|(edge, is_critical)| PathEdgeRow {
        source: edge.source,
        target: edge.target,
        weight_ns: edge.weight_ns,
        kind: edge.kind,
        id: ids.at(edge.event as usize),
        is_critical,
    });
    edges.collect()
}
