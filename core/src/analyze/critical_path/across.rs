//! The critical path through all ranks of a job: back from its end, and on the rank that came last wherever one waited.

use std::sync::Arc;

use super::bound::Bound;
use super::row::{BOUND, PathRow, Steps, by_bound};
use super::walk::{Step, Walk};
use super::{EMPTY, route};
use crate::analyze::analysis::{Analysis, Answer, Plot, Run};
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::link::rank::Member;
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text};
use crate::time::{add_ns, sum_ns};

/// What the time of a job was spent on.
pub(in crate::analyze) static JOB_CRITICAL_PATH: Analysis = Analysis {
    name: "job_critical_path",
    doc: "what the end of a job waited for, back through all ranks: where one waited for another, what that one did",
    options: &[],
    run: Run::Ranks(answer, Some(route::questions)),
};

/// A step, and the member of the job that it is on.
type Row = (usize, PathRow);

/// The path, and the rank and the window of each member.
struct JobPath {
    members: Vec<(Option<i64>, i64)>,
    rows: Vec<Row>,
}

impl JobPath {
    fn member(&self, at: usize) -> (Option<i64>, i64) {
        self.members[self.rows[at].0]
    }

    fn row(&self, at: usize) -> &PathRow {
        &self.rows[at].1
    }
}

static TABLE: Table<JobPath> = Table {
    name: "job_critical_path",
    doc: "a step of the critical path through all ranks, in order",
    num_rows: |path| path.rows.len(),
    columns: COLUMNS,
};

const COLUMNS: &[Column<JobPath>] = &[
    int("rank", |path, at| path.member(at).0),
    int("window", |path, at| Some(path.member(at).1)),
    int("start_ns", |path, at| Some(path.row(at).start.0)),
    int("dur_ns", |path, at| Some(path.row(at).dur_ns)),
    text("kind", |path, at, out| put_name(out, path.row(at).kind.name())),
    text("bound_by", |path, at, out| put_name(out, path.row(at).bound.name())),
    int("id", |path, at| Some(path.row(at).id.into())),
    text("name", |path, at, out| put_name(out, &path.row(at).name)),
    text("thread", |path, at, out| put(out, &path.row(at).thread)),
    int("device", |path, at| path.row(at).stream?.device),
    int("stream", |path, at| path.row(at).stream?.stream),
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

fn answer(job: &Job<'_>, _: &Options) -> Answer {
    let rows = rows(job);
    let ranks = by_rank(job, &rows);
    let bounds = by_bound(rows.iter().map(|(_, row)| (row.bound, row.dur_ns)));
    let reason = rows.is_empty().then_some(EMPTY);
    let members = job.ranks.members.iter().map(|member| (member.rank, member.window)).collect();
    Answer::with(TABLE.of(&Arc::new(JobPath { members, rows })), reason)
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
fn rows(job: &Job<'_>) -> Vec<Row> {
    let mut rows = route::rows(job).unwrap_or_else(|| walked(job));
    rows.reverse();
    rows
}

/// The steps through traces at hand, from the last to the first.
fn walked(job: &Job<'_>) -> Vec<Row> {
    let mut steps = job.each(|_, part| Steps::of(part.linked));
    let row = |Step { to: (member, _), start, edge, .. }: Step| (member, steps[member].row(&edge, start));
    Walk::of(job).steps().into_iter().map(row).collect()
}

fn by_rank(job: &Job<'_>, rows: &[Row]) -> Vec<RankRow> {
    let of = |member: &Member| RankRow {
        rank: member.rank,
        window: member.window,
        path_ns: 0,
        share: 0.0,
        bound_ns: [0; Bound::ALL.len()],
    };
    let mut ranks: Vec<_> = job.ranks.members.iter().map(of).collect();
    for (member, row) in rows {
        let rank = &mut ranks[*member];
        add_ns(&mut rank.path_ns, row.dur_ns);
        add_ns(&mut rank.bound_ns[row.bound as usize], row.dur_ns);
    }
    let all_ns = sum_ns(ranks.iter().map(|row| row.path_ns)).max(1) as f64;
    ranks.iter_mut().for_each(|row| row.share = row.path_ns as f64 / all_ns);
    ranks.retain(|row| row.path_ns > 0);
    sort::by_key(&mut ranks, |row| std::cmp::Reverse(row.path_ns));
    ranks
}
