//! The critical path of a job: back from its end, across to the last rank wherever one rank waited.

use std::sync::Arc;

use super::bound::PathBound;
use super::path::EMPTY;
use super::route::{self, LegStartsQuery, LegsQuery};
use super::row::{BOUND, PathRow, PathRowBuilder, by_bound};
use super::walk::{CriticalPathStep, CriticalPathWalk};
use crate::analyze::analysis::{Analysis, CrossRank, Run};
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::analyze::plot::Plot;
use crate::analyze::query::QueryKind;
use crate::analyze::result::AnalysisResult;
use crate::link::rank::JobMember;
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text};
use crate::time::{add_ns, sum_ns};

/// The critical path of a job.
pub(in crate::analyze) static JOB_CRITICAL_PATH: Analysis = Analysis {
    name: "job_critical_path",
    doc: "critical path of a job across ranks: where one rank waits for another, the path follows the awaited rank",
    options: &[],
    run: Run::Ranks(CrossRank {
        compare: answer,
        plan: route::plan,
        queries: &[QueryKind::of::<LegStartsQuery>(), QueryKind::of::<LegsQuery>()],
    }),
};

/// A step, and the member of the job that it is on.
type RankedPathRow = (usize, PathRow);

/// The path, and the rank and the window of each member.
struct JobPath {
    members: Vec<(Option<i64>, i64)>,
    rows: Vec<RankedPathRow>,
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

/// The share of the path on one trace.
#[derive(Debug, Clone)]
pub(crate) struct RankPathRow {
    rank: Option<i64>,
    window: i64,
    path_ns: i64,
    share: f64,
    bound_ns: [i64; PathBound::ALL.len()],
}

pub(crate) static RANKS: Table<Vec<RankPathRow>> = Table {
    name: "job_critical_path_ranks",
    doc: "the part of the critical path on one rank, by bounding resource",
    num_rows: Vec::len,
    columns: &[
        int("rank", |rows, at| rows[at].rank),
        int("window", |rows, at| Some(rows[at].window)),
        int("path_ns", |rows, at| Some(rows[at].path_ns)),
        float("share", |rows, at| Some(rows[at].share)),
        int("host_ns", |rows, at| Some(rows[at].bound_ns[PathBound::Host as usize])),
        int("compute_ns", |rows, at| Some(rows[at].bound_ns[PathBound::Compute as usize])),
        int("communication_ns", |rows, at| Some(rows[at].bound_ns[PathBound::Communication as usize])),
        int("copy_ns", |rows, at| Some(rows[at].bound_ns[PathBound::Copy as usize])),
        int("launch_ns", |rows, at| Some(rows[at].bound_ns[PathBound::Launch as usize])),
        int("wait_ns", |rows, at| Some(rows[at].bound_ns[PathBound::Wait as usize])),
        int("data_loading_ns", |rows, at| Some(rows[at].bound_ns[PathBound::DataLoading as usize])),
    ],
};

fn answer(job: &Job<'_>, _: &Options) -> AnalysisResult {
    let rows = rows(job);
    let ranks = by_rank(job, &rows);
    let bounds = by_bound(rows.iter().map(|(_, row)| (row.bound, row.dur_ns)));
    let reason = rows.is_empty().then_some(EMPTY);
    let members = job.ranks.members.iter().map(|member| (member.rank, member.window)).collect();
    AnalysisResult::with(TABLE.of(&Arc::new(JobPath { members, rows })), reason)
        .and(&RANKS, ranks)
        .and(&BOUND, bounds)
        .drawn(Plot::Bars { label: "name", parts: &["dur_ns"] })
}

/// The steps of the path, in order, on the first trace's clock where the clocks' offsets are known.
///
/// Starts at the last node of all graphs (see [`critical_path`](super::critical_path)). Each step
/// leads back to the latest dependency of a node. From the end of a collective that made its rank
/// wait, the step leads to the start of the last required participant, on that rank. A step takes
/// the time between both nodes. So steps are contiguous from the first start to the end of the job.
fn rows(job: &Job<'_>) -> Vec<RankedPathRow> {
    let mut rows = route::rows(job).unwrap_or_else(|| walked(job));
    rows.reverse();
    rows
}

/// The steps through traces at hand, from the last to the first.
fn walked(job: &Job<'_>) -> Vec<RankedPathRow> {
    let mut steps = job.each(|_, part| PathRowBuilder::of(part.linked));
    let row = |CriticalPathStep { to: (member, _), start, edge, .. }: CriticalPathStep| {
        (member, steps[member].row(&edge, start))
    };
    CriticalPathWalk::of(job).steps().into_iter().map(row).collect()
}

fn by_rank(job: &Job<'_>, rows: &[RankedPathRow]) -> Vec<RankPathRow> {
    let of = |member: &JobMember| RankPathRow {
        rank: member.rank,
        window: member.window,
        path_ns: 0,
        share: 0.0,
        bound_ns: [0; PathBound::ALL.len()],
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
