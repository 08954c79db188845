//! The critical path through all ranks of a job: back from its end, and on the rank that came last wherever one waited.

use rustc_hash::FxHashMap;

use super::bound::{Bound, Bounds};
use super::graph::{PathEdge, PathGraph, PathKind};
use super::row::{BOUND, PathRow, by_bound, step};
use super::{EMPTY, graph_of};
use crate::analyze::analysis::{Analysis, Answer, Plot, Run};
use crate::analyze::collective::{Clocks, Meeting, Part, meetings};
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::id::OptionalColumn;
use crate::link::rank::Member;
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text};
use crate::time::{Ts, add_ns, sum_ns};
use crate::trace::collective::Pattern;

/// What the time of a job was spent on.
pub(in crate::analyze) static JOB_CRITICAL_PATH: Analysis = Analysis {
    name: "job_critical_path",
    doc: "what the end of a job waited for, back through all ranks: where one waited for another, what that one did",
    options: &[],
    run: Run::Job(|job, _: &Options| answer(job)),
};

/// A step, and the member of the job that it is on.
#[derive(Debug, Clone)]
struct JobPathRow {
    rank: Option<i64>,
    window: i64,
    member: usize,
    step: PathRow,
}

static TABLE: Table<Vec<JobPathRow>> = Table {
    name: "job_critical_path",
    doc: "a step of the critical path through all ranks, in order",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<JobPathRow>>] = &[
    int("rank", |rows, at| rows[at].rank),
    int("window", |rows, at| Some(rows[at].window)),
    int("start_ns", |rows, at| Some(rows[at].step.start.0)),
    int("dur_ns", |rows, at| Some(rows[at].step.dur_ns)),
    text("kind", |rows, at, out| put_name(out, rows[at].step.kind.name())),
    text("bound_by", |rows, at, out| put_name(out, rows[at].step.bound.name())),
    int("id", |rows, at| Some(rows[at].step.id.into())),
    text("name", |rows, at, out| put_name(out, &rows[at].step.name)),
    text("thread", |rows, at, out| put(out, &rows[at].step.thread)),
    int("device", |rows, at| rows[at].step.stream?.device),
    int("stream", |rows, at| rows[at].step.stream?.stream),
];

/// What of the path is on one trace.
#[derive(Debug, Clone)]
struct RankRow {
    rank: Option<i64>,
    window: i64,
    path_ns: i64,
    share: f64,
    bound_ns: [i64; Bound::ALL.len()],
}

static RANKS: Table<Vec<RankRow>> = Table {
    name: "job_critical_path_ranks",
    doc: "what of the critical path is on a rank, and what bounds it there",
    num_rows: Vec::len,
    columns: &[
        int("rank", |rows, at| rows[at].rank),
        int("window", |rows, at| Some(rows[at].window)),
        int("path_ns", |rows, at| Some(rows[at].path_ns)),
        float("share", |rows, at| Some(rows[at].share)),
        int("host_ns", |rows, at| Some(rows[at].bound_ns[Bound::Host as usize])),
        int("compute_ns", |rows, at| Some(rows[at].bound_ns[Bound::Compute as usize])),
        int("communication_ns", |rows, at| Some(rows[at].bound_ns[Bound::Communication as usize])),
        int("copy_ns", |rows, at| Some(rows[at].bound_ns[Bound::Copy as usize])),
        int("launch_ns", |rows, at| Some(rows[at].bound_ns[Bound::Launch as usize])),
        int("wait_ns", |rows, at| Some(rows[at].bound_ns[Bound::Wait as usize])),
        int("data_loading_ns", |rows, at| Some(rows[at].bound_ns[Bound::DataLoading as usize])),
    ],
};

fn answer(job: &Job<'_>) -> Answer {
    let rows = rows(job);
    let ranks = by_rank(job, &rows);
    let steps: Vec<PathRow> = rows.iter().map(|row| row.step.clone()).collect();
    Answer::of(&TABLE, rows, EMPTY)
        .and(&RANKS, ranks)
        .and(&BOUND, by_bound(&steps))
        .drawn(Plot::Bars { label: "name", parts: &["dur_ns"] })
}

/// The steps of the path, in order, on the first trace's clock where the clocks' offsets are known.
///
/// From the last node of the graphs of all traces (see [`critical_path`](super::critical_path)) leads each step to what
/// came last of what a node waited for. From the end of a communication that a rank waited in, it leads to the start of
/// the last one without whom it cannot end, on that one's rank. A step takes the time between both. So each ends where the
/// next begins, and they last from the first start to the end of the job.
fn rows(job: &Job<'_>) -> Vec<JobPathRow> {
    let bounds = job.each(|_, part| Bounds::of(part.linked));
    let row = |(member, start, edge): (usize, Ts, PathEdge)| {
        let of = &job.ranks.members[member];
        let step = step(&of.linked.trace, &bounds[member], &edge, start);
        JobPathRow { rank: of.rank, window: of.window, member, step }
    };
    Walk::of(job).steps().into_iter().rev().map(row).collect()
}

fn by_rank(job: &Job<'_>, rows: &[JobPathRow]) -> Vec<RankRow> {
    let of = |member: &Member| RankRow {
        rank: member.rank,
        window: member.window,
        path_ns: 0,
        share: 0.0,
        bound_ns: [0; 7],
    };
    let mut ranks: Vec<_> = job.ranks.members.iter().map(of).collect();
    for row in rows {
        let rank = &mut ranks[row.member];
        add_ns(&mut rank.path_ns, row.step.dur_ns);
        add_ns(&mut rank.bound_ns[row.step.bound as usize], row.step.dur_ns);
    }
    let all_ns = sum_ns(ranks.iter().map(|row| row.path_ns)).max(1) as f64;
    ranks.iter_mut().for_each(|row| row.share = row.path_ns as f64 / all_ns);
    ranks.retain(|row| row.path_ns > 0);
    sort::by_key(&mut ranks, |row| std::cmp::Reverse(row.path_ns));
    ranks
}

/// A node of a member's graph.
type Place = (usize, u32);

/// The graphs of all members, and where one leads into another.
struct Walk {
    graphs: Vec<Behind>,
    /// From the ends of communications to the starts that they waited for.
    awaited: FxHashMap<Place, Place>,
    /// Those ends, in order.
    ends: Vec<Place>,
}

impl Walk {
    fn of(job: &Job<'_>) -> Self {
        let graphs = job.each(|member, part| {
            let ahead_ns = job.ranks.members[member].clock.map_or(0, |clock| clock.offset_ns);
            Behind::of(graph_of(part), ahead_ns, part.linked.trace.events.len(), |row| {
                part.linked.trace.is_on_device(row)
            })
        });
        let mut walk = Self { graphs, awaited: FxHashMap::default(), ends: Vec::new() };
        for meeting in meetings(&job.ranks, Clocks::AlignedWhereKnown, |_, _| true) {
            walk.meet(&meeting);
        }
        walk.ends = walk.awaited.keys().copied().collect();
        sort::ascending(&mut walk.ends);
        walk
    }

    fn time(&self, (member, node): Place) -> Ts {
        self.graphs[member].time(node)
    }

    fn meet(&mut self, meeting: &Meeting<'_>) {
        let starts: Option<Vec<Place>> = meeting.parts.iter().map(|part| self.start(part)).collect();
        let Some(starts) = starts.filter(|starts| starts.len() > 1) else { return };
        let last = starts.iter().copied().max_by_key(|start| self.time(*start));
        for part in &meeting.parts {
            let Some(awaited) = awaited(meeting, part, &starts, last) else { continue };
            for row in work(part) {
                let behind = &self.graphs[part.member as usize];
                let (Some(start), Some(end)) = (behind.starts.get(row), behind.ends.get(row)) else { continue };
                let is_held_up = behind.time(start) < self.time(awaited) && self.time(awaited) < behind.time(end);
                if is_held_up {
                    self.awaited.insert((part.member as usize, end), awaited);
                }
            }
        }
    }

    /// The node at which a part first runs.
    fn start(&self, part: &Part<'_>) -> Option<Place> {
        let behind = &self.graphs[part.member as usize];
        let start = work(part).filter_map(|row| behind.starts.get(row)).min()?;
        Some((part.member as usize, start))
    }

    /// What leads to a node on its rank. Work that began once a communication had ended in which its rank waited, and for most
    /// of the time since it could have begun had not, is held to have waited for it: not all traces say so.
    fn edge(&self, (member, node): Place) -> Option<PathEdge> {
        let behind = &self.graphs[member];
        let edge = behind.edge(node)?;
        if !behind.is_device[node as usize] || !behind.graph.nodes[node as usize].is_start {
            return Some(edge);
        }
        let before = self.ends.partition_point(|end| *end < (member, node));
        let end = before.checked_sub(1).map(|at| self.ends[at]).filter(|end| end.0 == member).map(|end| end.1);
        let waited =
            |end: &u32| behind.time(*end).since(behind.time(edge.source)) > behind.time(node).since(behind.time(*end));
        let held = |source| PathEdge { source, kind: PathKind::Sync, ..edge };
        Some(end.filter(waited).map_or(edge, held))
    }

    /// The steps from the last to the first: the member, when it begins, and what it is. Every step leads to an earlier
    /// time, or to an earlier node of the same graph.
    fn steps(&self) -> Vec<(usize, Ts, PathEdge)> {
        let last =
            |(member, behind): (usize, &Behind)| Some((member, (behind.graph.nodes.len() as u32).checked_sub(1)?));
        let lasts = self.graphs.iter().enumerate().filter_map(last);
        let mut at = lasts.max_by_key(|place| self.time(*place));
        let mut steps = Vec::new();
        while let Some((member, node)) = at {
            let behind = &self.graphs[member];
            let (place, edge) = match self.awaited.get(&(member, node)) {
                Some(place) => (Some(*place), behind.transfer(node)),
                None => {
                    self.edge((member, node)).map_or((None, None), |edge| (Some((member, edge.source)), Some(edge)))
                }
            };
            if let (Some(place), Some(edge)) = (place, edge) {
                let start = self.time(place);
                steps.push((member, start, PathEdge { weight_ns: behind.time(node).since(start).0.max(0), ..edge }));
            }
            at = place;
        }
        steps
    }
}

/// The rows that a part ran as: work of a device, or a host event.
fn work(part: &Part<'_>) -> impl Iterator<Item = usize> {
    part.one.device_events.iter().copied().chain(part.one.run).map(|row| row as usize)
}

/// The start without which a part cannot end: the last where all give and take alike, the root's where it sends to all, the
/// last for a root that receives from all, the sender's of two.
fn awaited(meeting: &Meeting<'_>, part: &Part<'_>, starts: &[Place], last: Option<Place>) -> Option<Place> {
    let of = |is_it: &dyn Fn(&Part<'_>) -> bool| Some(starts[meeting.parts.iter().position(is_it)?]);
    let root = meeting.any(|part| part.one.root_rank);
    let is_root = |part: &Part<'_>| root.is_some() && part.rank == root;
    match part.one.pattern? {
        Pattern::Broadcast | Pattern::Scatter => of(&is_root),
        Pattern::Reduce | Pattern::Gather => last.filter(|_| is_root(part)),
        Pattern::Recv => of(&|part| part.one.pattern == Some(Pattern::Send)),
        pattern if pattern.is_together() => last,
        _ => None,
    }
}

/// No edge.
const NONE: u32 = u32::MAX;

/// A graph, seen from its end.
struct Behind {
    graph: PathGraph,
    /// How far its clock is ahead.
    ahead_ns: i64,
    /// For each node the edge from what came last of what it waited for.
    edges: Vec<u32>,
    /// For each node the last one of a thread before it.
    hosts: Vec<u32>,
    starts: OptionalColumn,
    ends: OptionalColumn,
    is_device: Vec<bool>,
}

impl Behind {
    fn of(graph: PathGraph, ahead_ns: i64, num_events: usize, is_on_device: impl Fn(usize) -> bool) -> Self {
        let (mut edges, mut hosts) = (vec![NONE; graph.nodes.len()], Vec::with_capacity(graph.nodes.len()));
        let key =
            |edge: &PathEdge| (graph.nodes[edge.source as usize].time, edge.kind != PathKind::Dependency, edge.source);
        for (place, edge) in graph.edges.iter().enumerate() {
            let last = &mut edges[edge.target as usize];
            if *last == NONE || key(edge) > key(&graph.edges[*last as usize]) {
                *last = place as u32;
            }
        }
        let (mut starts, mut ends) = (OptionalColumn::empty(num_events), OptionalColumn::empty(num_events));
        let (mut host, mut is_device) = (NONE, Vec::with_capacity(graph.nodes.len()));
        for (place, node) in graph.nodes.iter().enumerate() {
            let column = if node.is_start { &mut starts } else { &mut ends };
            column.set(node.event as usize, place as u32);
            hosts.push(host);
            is_device.push(is_on_device(node.event as usize));
            if !is_on_device(node.event as usize) {
                host = place as u32;
            }
        }
        Self { graph, ahead_ns, edges, hosts, starts, ends, is_device }
    }

    fn time(&self, node: u32) -> Ts {
        Ts(self.graph.nodes[node as usize].time.0.saturating_sub(self.ahead_ns))
    }

    /// What leads to a node: of its edges the one that begins last, or else, where nothing is known of what it waited for,
    /// the time since a thread did something.
    fn edge(&self, node: u32) -> Option<PathEdge> {
        let event = self.graph.nodes[node as usize].event;
        let known = self.graph.edges.get(self.edges[node as usize] as usize).copied();
        let host = self.hosts[node as usize];
        let unknown = PathEdge { source: host, target: node, weight_ns: 0, kind: PathKind::Dependency, event };
        let is_unknown = |edge: &PathEdge| {
            self.is_device[node as usize]
                && edge.kind == PathKind::Dependency
                && host != NONE
                && self.time(host) > self.time(edge.source)
        };
        let known = known.filter(|edge| !is_unknown(edge));
        let edge = known.or_else(|| (host != NONE).then_some(unknown))?;
        let is_between = edge.kind == PathKind::Dependency && !self.is_device[node as usize];
        let is_gap = is_between && self.time(edge.source) < self.time(node);
        Some(if is_gap { PathEdge { kind: PathKind::Between, ..edge } } else { edge })
    }

    /// What a communication does once all have come, up to its end.
    fn transfer(&self, node: u32) -> Option<PathEdge> {
        let kind = if self.is_device[node as usize] { PathKind::Kernel } else { PathKind::Operator };
        Some(PathEdge { kind, event: self.graph.nodes[node as usize].event, ..self.edge(node)? })
    }
}
