//! Tables of compared dumps.

use std::sync::Arc;

use super::call::{CallStatus, FlightCall, FlightCollective};
use super::group::FlightJobGroup;
use super::job::FlightJob;
use super::problem::FlightProblem;
use super::transfer::FlightTransfer;
use crate::table::{FLIGHT_TABLES, PartKey, StackedTable, Table, TablePart, TableRows, int, json, put, text};

/// Tables of compared dumps; the first answers.
const TABLES: &[&Table<FlightJob>] = &[&FINDINGS, &GROUP_SUMMARY, &COLLECTIVES, &CALLS, &TRANSFERS, &DUMPS];

/// A table of each dump that is about its groups alone; `groups` here is that of the job.
const GROUPS_OF_DUMP: &str = "groups";

/// All tables of compared dumps, and those of all dumps one under another.
pub fn flight_job_tables(job: &Arc<FlightJob>) -> Vec<Arc<dyn TableRows>> {
    let mut all: Vec<_> = TABLES.iter().map(|table| table.of(job)).collect();
    for table in FLIGHT_TABLES.iter().filter(|table| table.name != GROUPS_OF_DUMP) {
        let parts = job.calls.dumps.iter().map(|dump| TablePart {
            key: PartKey::Rank { rank: Some(dump.rank), window: 0 },
            rows_of: table.of(&dump.recorder),
        });
        let stacked: Option<Arc<dyn TableRows>> =
            StackedTable::new(parts.collect()).map(|stacked| Arc::new(stacked) as Arc<dyn TableRows>);
        all.extend(stacked);
    }
    all
}

static FINDINGS: Table<FlightJob> = Table {
    name: "findings",
    doc: "the first difference between the ranks of a group, a call that no rank completed, or a defect of dumps",
    num_rows: |job| job.findings.len(),
    columns: &[
        text("problem", |job, row, out| put(out, job.findings[row].problem.name())),
        int("group_id", |job, row| job.findings[row].group.map(i64::from)),
        int("collective_id", |job, row| job.findings[row].collective.map(i64::from)),
        int("transfer_id", |job, row| job.findings[row].transfer.map(i64::from)),
        int("collective_seq", |job, row| Some(job.collectives[job.findings[row].collective? as usize].seq)),
        int("created_ns", |job, row| job.findings[row].created_ns),
        json("ranks", |job, row, out| put_list(out, job.findings[row].ranks.iter().copied())),
        text("message", |job, row, out| put(out, &job.findings[row].message)),
    ],
};

static GROUP_SUMMARY: Table<FlightJob> = Table {
    name: "groups",
    doc: "a process group, with the range of its recorded collectives and the first problem",
    num_rows: |job| job.calls.groups.len(),
    columns: &[
        int("group_id", |_, row| Some(row as i64)),
        text("group_name", |job, row, out| put(out, &job.calls.groups[row].name)),
        text("group_desc", |job, row, out| put(out, &job.calls.groups[row].desc)),
        json("ranks", |job, row, out| {
            job.calls.groups[row].ranks.as_ref().is_some_and(|ranks| put_list(out, ranks.iter().copied()))
        }),
        json("dump_ranks", |job, row, out| put_list(out, dump_ranks(job, &job.calls.groups[row]))),
        int("first_seq", |job, row| spans(&job.calls.groups[row]).map(|[first, _]| first).min()),
        int("last_seq", |job, row| last_seq(&job.calls.groups[row])),
        json("lagging_ranks", |job, row, out| put_list(out, lagging(job, &job.calls.groups[row]))),
        text("problem", |job, row, out| finding(job, row).is_some_and(|at| put(out, job.findings[at].problem.name()))),
        int("collective_seq", |job, row| {
            Some(job.collectives[job.findings[finding(job, row)?].collective? as usize].seq)
        }),
        json("problem_ranks", |job, row, out| {
            finding(job, row).is_some_and(|at| put_list(out, job.findings[at].ranks.iter().copied()))
        }),
        text("message", |job, row, out| finding(job, row).is_some_and(|at| put(out, &job.findings[at].message))),
    ],
};

static COLLECTIVES: Table<FlightJob> = Table {
    name: "collectives",
    doc: "a collective: the calls of all ranks of a group with one sequence number",
    num_rows: |job| job.collectives.len(),
    columns: &[
        int("collective_id", |_, row| Some(row as i64)),
        int("group_id", |job, row| Some(job.collectives[row].group.into())),
        text("group_name", |job, row, out| put(out, &group(job, row).name)),
        text("group_desc", |job, row, out| put(out, &group(job, row).desc)),
        int("group_size", |job, row| group(job, row).size()),
        int("collective_seq", |job, row| Some(job.collectives[row].seq)),
        text("collective", |job, row, out| {
            job.calls.first_kind(&job.collectives[row]).is_some_and(|kind| put(out, &kind))
        }),
        json("enqueued_ranks", |job, row, out| put_status(job, row, CallStatus::Enqueued, out)),
        json("missing_ranks", |job, row, out| put_status(job, row, CallStatus::Missing, out)),
        json("not_recorded_ranks", |job, row, out| put_status(job, row, CallStatus::NotRecorded, out)),
        json("scheduled_ranks", |job, row, out| put_list(out, in_state(job, row, "scheduled"))),
        json("started_ranks", |job, row, out| put_list(out, in_state(job, row, "started"))),
        json("completed_ranks", |job, row, out| put_list(out, in_state(job, row, "completed"))),
        text("problem", |job, row, out| job.problems[row].is_some_and(|problem| put(out, problem.name()))),
        json("problem_ranks", |job, row, out| {
            let first = differing(job, row).and_then(|found| job.calls.differences(found).into_iter().next());
            first.is_some_and(|difference| put_list(out, difference.ranks.into_iter()))
        }),
        text("message", |job, row, out| {
            let all = differing(job, row).map(|found| job.calls.differences(found)).unwrap_or_default();
            put(out, &all.into_iter().map(|difference| difference.message).collect::<Vec<_>>().join("; "))
        }),
    ],
};

static CALLS: Table<FlightJob> = Table {
    name: "calls",
    doc: "one rank's part in a collective, also of a rank that never enqueued it",
    num_rows: |job| job.starts.last().copied().unwrap_or(0),
    columns: &[
        int("collective_id", |job, row| Some(part(job, row).0 as i64)),
        int("rank", |job, row| Some(job.calls.dumps[part(job, row).2 as usize].rank)),
        text("status", |job, row, out| {
            let (collective, at, _) = part(job, row);
            put(out, job.calls.status(&job.collectives[collective], at).name())
        }),
        int("entry_id", |job, row| part_calls(job, row).first().map(|call| i64::from(call.entry))),
        int("num_entries", |job, row| Some(part_calls(job, row).len() as i64)),
        text("collective", |job, row, out| {
            let calls = part_calls(job, row);
            !calls.is_empty() && put(out, &job.calls.kind(calls))
        }),
        text("state", |job, row, out| {
            part_calls(job, row).last().and_then(|call| job.calls.state(call)).is_some_and(|state| put(out, state))
        }),
        int("created_ns", |job, row| job.calls.entry(part_calls(job, row).first()?).created_ns),
    ],
};

static TRANSFERS: Table<FlightJob> = Table {
    name: "transfers",
    doc: "a send with its receive, or one of both alone",
    num_rows: |job| job.transfers.len(),
    columns: &[
        int("transfer_id", |_, row| Some(row as i64)),
        int("group_id", |job, row| Some(job.transfers[row].group.into())),
        int("src_rank", |job, row| job.transfers[row].src_rank),
        int("dst_rank", |job, row| job.transfers[row].dst_rank),
        int("send_entry_id", |job, row| Some(job.transfers[row].send?.1.into())),
        int("recv_entry_id", |job, row| Some(job.transfers[row].recv?.1.into())),
        int("send_seq", |job, row| job.calls.entry_at(job.transfers[row].send?).p2p_seq),
        int("recv_seq", |job, row| job.calls.entry_at(job.transfers[row].recv?).p2p_seq),
        text("send_state", |job, row, out| put_state(job, |transfer| transfer.send, row, out)),
        text("recv_state", |job, row, out| put_state(job, |transfer| transfer.recv, row, out)),
        text("problem", |job, row, out| {
            job.transfers[row].problem.is_some_and(|problem: FlightProblem| put(out, problem.name()))
        }),
        text("message", |job, row, out| {
            job.calls.transfer_message(&job.transfers[row]).is_some_and(|(_, message)| put(out, &message))
        }),
    ],
};

static DUMPS: Table<FlightJob> = Table {
    name: "dumps",
    doc: "the dump of a rank, with the number of entries that its ring buffer dropped",
    num_rows: |job| job.calls.dumps.len(),
    columns: &[
        int("rank", |job, row| Some(job.calls.dumps[row].rank)),
        int("num_entries", |job, row| Some(job.calls.dumps[row].recorder.entries.len() as i64)),
        int("num_dropped", |job, row| job.calls.dumps[row].num_dropped),
        int("first_created_ns", |job, row| {
            job.calls.dumps[row].recorder.entries.iter().filter_map(|entry| entry.created_ns).min()
        }),
        int("last_created_ns", |job, row| {
            job.calls.dumps[row].recorder.entries.iter().filter_map(|entry| entry.created_ns).max()
        }),
    ],
};

fn group(job: &FlightJob, row: usize) -> &FlightJobGroup {
    job.calls.group(&job.collectives[row])
}

fn dump_ranks<'a>(job: &'a FlightJob, group: &'a FlightJobGroup) -> impl Iterator<Item = i64> + 'a {
    group.dumps.iter().map(|dump| job.calls.dumps[*dump as usize].rank)
}

fn spans(group: &FlightJobGroup) -> impl Iterator<Item = [i64; 2]> + '_ {
    group.recorded.iter().flatten().copied()
}

fn last_seq(group: &FlightJobGroup) -> Option<i64> {
    spans(group).map(|[_, last]| last).max()
}

/// Ranks that never enqueued the last collective of a group.
fn lagging<'a>(job: &'a FlightJob, group: &'a FlightJobGroup) -> impl Iterator<Item = i64> + 'a {
    let last = last_seq(group);
    let lags = move |at: usize| last.is_some_and(|last| group.never_enqueued(at, last));
    let dumps = group.dumps.iter().enumerate().filter(move |(at, _)| lags(*at));
    dumps.map(|(_, dump)| job.calls.dumps[*dump as usize].rank)
}

/// The first finding of a group.
fn finding(job: &FlightJob, row: usize) -> Option<usize> {
    job.findings.iter().position(|finding| finding.group == Some(row as u32))
}

/// A collective that has a problem.
fn differing(job: &FlightJob, row: usize) -> Option<&FlightCollective> {
    job.problems[row].map(|_| &job.collectives[row])
}

/// The collective of a row of calls, and its dump: index in the group, and index among all.
fn part(job: &FlightJob, row: usize) -> (usize, usize, u32) {
    let collective = job.starts.partition_point(|start| *start <= row).saturating_sub(1);
    let at = row - job.starts[collective];
    (collective, at, group(job, collective).dumps[at])
}

fn part_calls(job: &FlightJob, row: usize) -> &[FlightCall] {
    let (collective, _, dump) = part(job, row);
    job.calls.calls_of(&job.collectives[collective], dump)
}

fn in_state<'a>(job: &'a FlightJob, row: usize, state: &'a str) -> impl Iterator<Item = i64> + 'a {
    let parts = job.calls.by_dump(&job.collectives[row]);
    let last = parts.filter_map(|calls| calls.last());
    last.filter(move |call| job.calls.state(call) == Some(state)).map(|call| job.calls.dump(call).rank)
}

fn put_status(job: &FlightJob, row: usize, status: CallStatus, out: &mut String) -> bool {
    put_list(out, job.calls.ranks_with(&job.collectives[row], status).into_iter())
}

fn put_state(job: &FlightJob, side: fn(&FlightTransfer) -> Option<(u32, u32)>, row: usize, out: &mut String) -> bool {
    let Some((dump, entry)) = side(&job.transfers[row]) else { return false };
    let call = FlightCall { group: 0, seq: 0, dump, entry };
    job.calls.state(&call).is_some_and(|state| put(out, state))
}

fn put_list(out: &mut String, ranks: impl Iterator<Item = i64>) -> bool {
    put(out, &format!("[{}]", ranks.map(|rank| rank.to_string()).collect::<Vec<_>>().join(",")))
}
