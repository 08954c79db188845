//! The critical path through all ranks of a job: back from its end, and on the rank that came last wherever one waited.

use std::sync::Arc;

use super::EMPTY;
use super::bound::{Bound, Bounds};
use super::graph::PathEdge;
use super::row::{BOUND, by_bound};
use super::walk::{Step, Walk};
use crate::analyze::analysis::{Analysis, Answer, Plot, Run};
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::link::rank::{Member, Ranks};
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text};
use crate::time::{Ts, add_ns, sum_ns};
use crate::trace::Trace;
use crate::trace::track::Track;

/// What the time of a job was spent on.
pub(in crate::analyze) static JOB_CRITICAL_PATH: Analysis = Analysis {
    name: "job_critical_path",
    doc: "what the end of a job waited for, back through all ranks: where one waited for another, what that one did",
    options: &[],
    run: Run::Job(|job, _: &Options| answer(job)),
};

/// The path: what its steps are called is looked up when it is asked for.
struct JobPath {
    ranks: Arc<Ranks>,
    rows: Vec<JobPathRow>,
}

/// A step, and the member of the job that it is on.
#[derive(Debug, Clone, Copy)]
struct JobPathRow {
    member: usize,
    start: Ts,
    edge: PathEdge,
    bound: Bound,
}

impl JobPath {
    fn member(&self, at: usize) -> &Member {
        &self.ranks.members[self.rows[at].member]
    }

    fn trace(&self, at: usize) -> &Trace {
        &self.member(at).linked.trace
    }

    fn event(&self, at: usize) -> usize {
        self.rows[at].edge.event as usize
    }

    fn track(&self, at: usize) -> &Track {
        let trace = self.trace(at);
        trace.track(trace.events.track[self.event(at)])
    }
}

static TABLE: Table<JobPath> = Table {
    name: "job_critical_path",
    doc: "a step of the critical path through all ranks, in order",
    num_rows: |path| path.rows.len(),
    columns: COLUMNS,
};

const COLUMNS: &[Column<JobPath>] = &[
    int("rank", |path, at| path.member(at).rank),
    int("window", |path, at| Some(path.member(at).window)),
    int("start_ns", |path, at| Some(path.rows[at].start.0)),
    int("dur_ns", |path, at| Some(path.rows[at].edge.weight_ns)),
    text("kind", |path, at, out| put_name(out, path.rows[at].edge.kind.name())),
    text("bound_by", |path, at, out| put_name(out, path.rows[at].bound.name())),
    int("id", |path, at| Some(path.trace(at).events.position[path.event(at)].into())),
    text("name", |path, at, out| put_name(out, path.trace(at).event_name(path.event(at)))),
    text("thread", |path, at, out| {
        let track = path.track(at);
        put(out, if track.stream.is_none() { path.trace(at).strings.text(track.thread) } else { "" })
    }),
    int("device", |path, at| path.track(at).stream?.device),
    int("stream", |path, at| path.track(at).stream?.stream),
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
    let bounds = by_bound(rows.iter().map(|row| (row.bound, row.edge.weight_ns)));
    let reason = rows.is_empty().then_some(EMPTY);
    Answer::with(TABLE.of(&Arc::new(JobPath { ranks: Arc::clone(&job.ranks), rows })), reason)
        .and(&RANKS, ranks)
        .and(&BOUND, bounds)
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
    let row = |Step { to: (member, _), start, edge, .. }: Step| {
        let bound = bounds[member].bound(&edge);
        JobPathRow { member, start, edge, bound }
    };
    Walk::of(job).steps().into_iter().rev().map(row).collect()
}

fn by_rank(job: &Job<'_>, rows: &[JobPathRow]) -> Vec<RankRow> {
    let of = |member: &Member| RankRow {
        rank: member.rank,
        window: member.window,
        path_ns: 0,
        share: 0.0,
        bound_ns: [0; Bound::ALL.len()],
    };
    let mut ranks: Vec<_> = job.ranks.members.iter().map(of).collect();
    for row in rows {
        let rank = &mut ranks[row.member];
        add_ns(&mut rank.path_ns, row.edge.weight_ns);
        add_ns(&mut rank.bound_ns[row.bound as usize], row.edge.weight_ns);
    }
    let all_ns = sum_ns(ranks.iter().map(|row| row.path_ns)).max(1) as f64;
    ranks.iter_mut().for_each(|row| row.share = row.path_ns as f64 / all_ns);
    ranks.retain(|row| row.path_ns > 0);
    sort::by_key(&mut ranks, |row| std::cmp::Reverse(row.path_ns));
    ranks
}
