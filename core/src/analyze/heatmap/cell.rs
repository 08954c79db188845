//! Joins the iterations of ranks with their waits at collectives.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::iteration_time::{HeatTime, RankIterations};
use crate::analyze::collective::{ClockAlignment, JobCollective, holds, job_collectives};
use crate::analyze::job::Job;
use crate::link::Collective;
use crate::table::{Table, float, int};
use crate::time::{add_ns, sum_ns};
use crate::trace::collective::CollectivePattern;

/// An iteration of a rank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeatCell {
    #[cfg(feature = "machines")]
    pub(super) member: usize,
    pub(super) rank: Option<i64>,
    pub(super) time: HeatTime,
    pub(super) wait: Option<HeatWait>,
}

/// Waits at collectives, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HeatWait {
    /// For others.
    pub(super) own_ns: i64,
    /// Of others, for this rank as the last.
    pub(super) caused_ns: i64,
}

pub(crate) static TABLE: Table<Vec<HeatCell>> = Table {
    name: "heatmap",
    doc: "an iteration of a rank: its time, device time, exposed communication, and waits at collectives",
    num_rows: Vec::len,
    columns: &[
        int("rank", |rows, at| rows[at].rank),
        int("iteration", |rows, at| rows[at].time.number),
        int("start_ns", |rows, at| Some(rows[at].time.start_ns)),
        int("dur_ns", |rows, at| Some(rows[at].time.dur_ns)),
        int("device_busy_ns", |rows, at| rows[at].time.busy_ns),
        float("device_busy_share", |rows, at| {
            let HeatTime { dur_ns, busy_ns, .. } = rows[at].time;
            (dur_ns > 0).then_some(busy_ns? as f64 / dur_ns as f64)
        }),
        int("exposed_communication_ns", |rows, at| rows[at].time.exposed_ns),
        int("wait_ns", |rows, at| Some(rows[at].wait?.own_ns)),
        int("caused_wait_ns", |rows, at| Some(rows[at].wait?.caused_ns)),
    ],
};

/// The iterations of all members, in their order.
///
/// Waits are those of collectives that compare: messages between two ranks are left out, because a
/// pipeline plans their waits. A wait belongs to the iteration of the rank that waits, and to that
/// of the rank that came last.
pub(super) fn cells(job: &Job<'_>, times: &[Cow<'_, RankIterations>]) -> Vec<HeatCell> {
    let waits = waits(job);
    let cell = |member: usize, time: &HeatTime| HeatCell {
        #[cfg(feature = "machines")]
        member,
        rank: job.ranks.members[member].rank,
        time: *time,
        wait: waits.get(&(member as u32, time.number)).copied(),
    };
    let of_member = |(member, times): (usize, &Cow<'_, RankIterations>)| {
        times.0.iter().map(|time| cell(member, time)).collect::<Vec<_>>()
    };
    times.iter().enumerate().flat_map(of_member).collect()
}

fn waits(job: &Job<'_>) -> FxHashMap<(u32, Option<i64>), HeatWait> {
    let is_wanted = |member: usize, one: &Collective| {
        holds(&job.parts[member], one) && !one.pattern.is_some_and(CollectivePattern::is_p2p)
    };
    let mut waits: FxHashMap<(u32, Option<i64>), HeatWait> = FxHashMap::default();
    for meeting in job_collectives(&job.ranks, ClockAlignment::AlignedWhereKnown, is_wanted) {
        let Some(own) = meeting.waits_ns() else { continue };
        for (part, own_ns) in meeting.parts.iter().zip(&own) {
            let key = (part.member, part.one.iteration(part.linked));
            add_ns(&mut waits.entry(key).or_default().own_ns, *own_ns);
        }
        if let Some(last) = last(&meeting) {
            add_ns(&mut waits.entry(last).or_default().caused_ns, sum_ns(own));
        }
    }
    waits
}

/// The member that came last, and its iteration.
fn last(meeting: &JobCollective<'_>) -> Option<(u32, Option<i64>)> {
    let (_, last) = meeting.ends()?;
    Some((last.member, last.one.iteration(last.linked)))
}
