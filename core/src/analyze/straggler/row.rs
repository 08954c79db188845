//! One row per rank: late arrivals, their cost to others, and causes.

use std::sync::Arc;

use super::activity::DelayCause;
use super::late_collective::LateArrival;
use super::pipeline::{Pipelines, bubble};
use crate::analyze::collective::JobCollective;
use crate::analyze::verdict::MissingRanks;
use crate::link::rank::JobRanks;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::add_ns;

/// The arrivals of one trace at collectives.
#[derive(Debug, Clone, Default)]
pub(crate) struct StragglerRow {
    /// The member of the job.
    pub(in crate::analyze) member: usize,
    rank: Option<i64>,
    window: i64,
    num_collectives: i64,
    /// How often it came last.
    pub(in crate::analyze) num_last: i64,
    num_first: i64,
    wait_ns: i64,
    /// The total wait that it caused, in nanoseconds.
    pub(in crate::analyze) caused_wait_ns: i64,
    /// The part of it that each cause has.
    caused_by_ns: [i64; DelayCause::ALL.len()],
    /// Time of its pipeline in which it neither worked nor waited for a slow stage; and the whole
    /// time of the pipeline.
    pub(super) bubble: Option<(i64, i64)>,
    /// The ranks without a trace: one of them may be later.
    pub(super) missing: Option<Arc<str>>,
}

pub(crate) static TABLE: Table<Vec<StragglerRow>> = Table {
    name: "stragglers",
    doc: "one rank: its arrivals at collectives, and the wait time it caused",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<StragglerRow>>] = &[
    int("rank", |rows, at| rows[at].rank),
    int("window", |rows, at| Some(rows[at].window)),
    int("num_collectives", |rows, at| Some(rows[at].num_collectives)),
    int("num_last", |rows, at| Some(rows[at].num_last)),
    float("last_share", |rows, at| Some(rows[at].share(rows[at].num_last))),
    int("num_first", |rows, at| Some(rows[at].num_first)),
    float("first_share", |rows, at| Some(rows[at].share(rows[at].num_first))),
    int("wait_ns", |rows, at| Some(rows[at].wait_ns)),
    float("mean_wait_ns", |rows, at| Some(rows[at].share(rows[at].wait_ns))),
    int("caused_wait_ns", |rows, at| Some(rows[at].caused_wait_ns)),
    text("cause", |rows, at, out| rows[at].cause().is_some_and(|cause| put_name(out, cause.name()))),
    int("cause_wait_ns", |rows, at| Some(rows[at].caused_by_ns[rows[at].cause()? as usize])),
    int("bubble_ns", |rows, at| Some(rows[at].bubble?.0)),
    float("bubble_share", |rows, at| {
        let (bubble_ns, span_ns) = rows[at].bubble?;
        Some(bubble_ns as f64 / span_ns.max(1) as f64)
    }),
    text("missing_ranks", |rows, at, out| rows[at].missing.as_ref().is_some_and(|words| put_name(out, words))),
];

impl StragglerRow {
    /// The name with the largest share of the caused wait.
    pub(in crate::analyze) fn cause_name(&self) -> Option<&'static str> {
        self.cause().map(DelayCause::name)
    }

    fn share(&self, of: i64) -> f64 {
        of as f64 / self.num_collectives.max(1) as f64
    }

    /// The cause with the largest share of the caused wait.
    fn cause(&self) -> Option<DelayCause> {
        let most = self.caused_by_ns.iter().max().filter(|ns| **ns > 0)?;
        DelayCause::ALL.into_iter().find(|cause| self.caused_by_ns[*cause as usize] == *most)
    }
}

/// A row for each trace that meets another one, those that others waited for the longest first.
pub(super) fn rows(
    ranks: &JobRanks,
    meetings: &[&JobCollective<'_>],
    late: &[LateArrival],
    pipelines: &Pipelines,
) -> Vec<StragglerRow> {
    let missing: Option<Arc<str>> = MissingRanks::of_job(ranks).map(|missing| missing.words().into());
    let row = |(at, member): (usize, &crate::link::rank::JobMember)| StragglerRow {
        member: at,
        rank: member.rank,
        window: member.window,
        missing: missing.clone(),
        ..StragglerRow::default()
    };
    let mut rows: Vec<_> = ranks.members.iter().enumerate().map(row).collect();
    for meeting in meetings {
        let waits = meeting.waits_ns().unwrap_or_default();
        for (at, part) in meeting.parts.iter().enumerate().filter(|_| meeting.arrivals().is_some()) {
            let row = &mut rows[part.member as usize];
            row.num_collectives += 1;
            add_ns(&mut row.wait_ns, waits.get(at).copied().unwrap_or(0));
        }
        if let Some((first, last)) = meeting.ends() {
            rows[first.member as usize].num_first += 1;
            rows[last.member as usize].num_last += 1;
        }
    }
    for arrival in late {
        let row = &mut rows[arrival.member as usize];
        add_ns(&mut row.caused_wait_ns, arrival.caused_wait_ns);
        if let Some((cause, _)) = arrival.cause {
            add_ns(&mut row.caused_by_ns[cause as usize], arrival.caused_wait_ns);
        }
    }
    let mut suffered = vec![0_i64; rows.len()];
    for arrival in late {
        if let Some(receiver) = arrival.receiver {
            add_ns(&mut suffered[receiver as usize], arrival.caused_wait_ns);
        }
    }
    for (member, row) in rows.iter_mut().enumerate() {
        let idle = pipelines.stage(member).and_then(|stage| stage.idle);
        row.bubble = idle.map(|idle| bubble(idle, suffered[member]));
    }
    rows.retain(|row| row.num_collectives > 0);
    sort::by_key(&mut rows, |row| (std::cmp::Reverse(row.caused_wait_ns), row.rank, row.window));
    rows
}
