//! The critical path through all ranks of a job: back from its end, and on the rank that came last wherever one waited.

use super::EMPTY;
use super::bound::Bound;
use super::graph::PathEdge;
use super::row::{BOUND, PathRow, Steps, by_bound};
use super::walk::Walk;
use crate::analyze::analysis::{Analysis, Answer, Plot, Run};
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::link::rank::Member;
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text};
use crate::time::{Ts, add_ns, sum_ns};

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
    let bounds = by_bound(rows.iter().map(|row| (row.step.bound, row.step.dur_ns)));
    Answer::of(&TABLE, rows, EMPTY)
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
    let mut steps = job.each(|_, part| Steps::of(part.linked));
    let row = |(member, start, edge): (usize, Ts, PathEdge)| {
        let (of, step) = (&job.ranks.members[member], steps[member].row(&edge, start));
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
        bound_ns: [0; Bound::ALL.len()],
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
