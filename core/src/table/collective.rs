//! Tables of collectives: of one trace, and of all traces of a job with their clocks.

use super::column::{Table, boolean, float, int, put, text, uint};
use super::event::id;
use crate::link::rank::{JobMember, JobRanks, SharedCollective};
use crate::link::{Collective, LinkedTrace};
use crate::time::TimeRange;
use crate::trace::group::GroupRanks as RankList;

/// Where communications are, by their rows.
trait CollectiveRows {
    /// A communication, and the trace it is in.
    fn at(&self, row: usize) -> (&LinkedTrace, &Collective);
}

/// The columns of a communication, after some others.
macro_rules! columns {
    ($($first:expr),* $(,)?) => {
        &[
            $($first,)*
            text("sources", |all, row, out| put(out, &sources(all.at(row).1))),
            int("event_id", |all, row| {
                let (linked, one) = all.at(row);
                one.event.or(one.run).map(|event| id(linked, event))
            }),
            uint("node_id", |all, row| node_id(all.at(row).0, all.at(row).1)),
            int("device_event_id", |all, row| {
                let (linked, one) = all.at(row);
                one.device_events.first().map(|event| id(linked, *event))
            }),
            int("num_device_events", |all, row| Some(all.at(row).1.device_events.len() as i64)),
            text("collective", |all, row, out| put_some(out, all.at(row).1.name.as_deref())),
            text("group_name", |all, row, out| put_some(out, all.at(row).1.group_name(all.at(row).0))),
            text("group_desc", |all, row, out| put_some(out, all.at(row).1.facts.group_desc.as_deref())),
            int("group_size", |all, row| all.at(row).1.facts.group_size),
            text("ranks", |all, row, out| all.at(row).1.ranks.as_ref().is_some_and(|ranks| put_ranks(out, ranks))),
            int("seq", |all, row| all.at(row).1.facts.seq),
            uint("comms_id", |all, row| all.at(row).1.facts.comms_id),
            boolean("is_p2p", |all, row| all.at(row).1.is_p2p()),
            int("src_rank", |all, row| all.at(row).1.src_rank),
            int("dst_rank", |all, row| all.at(row).1.dst_rank),
            int("root_rank", |all, row| all.at(row).1.root_rank),
            text("dtype", |all, row, out| put_some(out, all.at(row).1.facts.dtype.as_deref())),
            int("in_elems", |all, row| all.at(row).1.facts.in_elems),
            int("out_elems", |all, row| all.at(row).1.facts.out_elems),
            int("in_bytes", |all, row| all.at(row).1.in_bytes()),
            int("out_bytes", |all, row| all.at(row).1.out_bytes()),
            text("in_split", |all, row, out| put_some(out, all.at(row).1.facts.in_split.as_deref())),
            text("out_split", |all, row, out| put_some(out, all.at(row).1.facts.out_split.as_deref())),
            boolean("is_async", |all, row| all.at(row).1.is_async()),
            int("wait_event_id", |all, row| {
                let (linked, one) = all.at(row);
                linked.collectives().wait_for(one)?.event.map(|event| id(linked, event))
            }),
            uint("wait_node_id", |all, row| {
                let (linked, one) = all.at(row);
                node_id(linked, linked.collectives().wait_for(one)?)
            }),
            int("iteration", |all, row| all.at(row).1.iteration(all.at(row).0)),
            int("host_start_ns", |all, row| {
                let (linked, one) = all.at(row);
                one.event.map(|event| linked.trace.events.start.at(event as usize).0)
            }),
            int("host_dur_ns", |all, row| {
                let (linked, one) = all.at(row);
                one.event.map(|event| linked.trace.events.dur.at(event as usize).0)
            }),
            int("start_ns", |all, row| time(all.at(row)).map(|time| time.start.0)),
            int("dur_ns", |all, row| time(all.at(row)).map(|time| time.dur().0)),
            text("untimed_reason", |all, row, out| {
                let (linked, one) = all.at(row);
                put_some(out, one.untimed_reason().map(|reason| reason.of(linked).message()))
            }),
            float("algorithm_gbps", |all, row| all.at(row).1.algorithm_gbps(&all.at(row).0.trace)),
            float("bus_gbps", |all, row| all.at(row).1.bus_gbps(&all.at(row).0.trace)),
        ]
    };
}

/// One row a communication.
pub(super) static COLLECTIVES: Table = Table {
    name: "collectives",
    doc: "a collective of this rank",
    num_rows: |linked| linked.collectives().rows.len(),
    columns: columns![],
};

/// All tables of a job.
pub const RANK_TABLES: &[&Table<JobRanks>] = &[&RANK_COLLECTIVES, &CLOCK_OFFSETS];

/// One row a part that a trace has in a communication.
pub(crate) static RANK_COLLECTIVES: Table<JobRanks> = Table {
    name: "collectives",
    doc: "one rank's part in a collective",
    num_rows: JobRanks::num_rows,
    columns: columns![
        int("rank", |ranks, row| member(ranks, row).rank),
        int("window", |ranks, row| Some(member(ranks, row).window)),
        int("collective_id", |ranks, row| shared(ranks, row).map(|(number, _)| i64::from(number))),
        text("method", |ranks, row, out| put_some(out, shared(ranks, row).map(|(_, shared)| shared.how.name()))),
        int("num_traces", |ranks, row| shared(ranks, row).map(|(_, shared)| shared.rows.len() as i64)),
        int("skew_ns", |ranks, row| {
            let (member, row) = ranks.place(row);
            ranks.skew_ns(member, row)
        }),
    ],
};

static CLOCK_OFFSETS: Table<JobRanks> = Table {
    name: "clock_offsets",
    doc: "the clock offset of a trace, relative to the first trace of its group",
    num_rows: |ranks| ranks.members.len(),
    columns: &[
        int("rank", |ranks, row| ranks.members[row].rank),
        int("window", |ranks, row| Some(ranks.members[row].window)),
        int("group", |ranks, row| Some(ranks.members[row].clock?.group.into())),
        int("offset_ns", |ranks, row| Some(ranks.members[row].clock?.offset_ns)),
        int("spread_ns", |ranks, row| Some(ranks.members[row].clock?.spread_ns)),
        int("num_collectives", |ranks, row| Some(ranks.members[row].clock?.num_collectives as i64)),
    ],
};

impl CollectiveRows for LinkedTrace {
    fn at(&self, row: usize) -> (&LinkedTrace, &Collective) {
        (self, &self.collectives().rows[row])
    }
}

impl CollectiveRows for JobRanks {
    fn at(&self, row: usize) -> (&LinkedTrace, &Collective) {
        let (member, row) = self.place(row);
        (&self.members[member].linked, self.members[member].collective(row))
    }
}

fn member(ranks: &JobRanks, row: usize) -> &JobMember {
    &ranks.members[ranks.place(row).0]
}

fn shared(ranks: &JobRanks, row: usize) -> Option<(u32, &SharedCollective)> {
    let (member, row) = ranks.place(row);
    ranks.shared_of(member, row)
}

fn time((linked, one): (&LinkedTrace, &Collective)) -> Option<TimeRange> {
    one.time(&linked.trace)
}

fn node_id(linked: &LinkedTrace, one: &Collective) -> Option<u64> {
    Some(linked.trace.nodes[one.node? as usize].id)
}

/// The recordings that contain it.
fn sources(one: &Collective) -> String {
    let host = one.event.or(one.run).map(|_| "host");
    let device = (!one.device_events.is_empty()).then_some("device");
    [one.node.map(|_| "node"), host, device].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn put_some(out: &mut String, text: Option<&str>) -> bool {
    text.is_some_and(|text| put(out, text))
}

/// More ranks than these are not repeated in every row: the table of process groups has them.
const MAX_RANKS: i64 = 1024;

pub(crate) fn put_ranks(out: &mut String, ranks: &RankList) -> bool {
    let is_short = ranks.size() <= MAX_RANKS;
    is_short && put(out, &format!("[{}]", ranks.iter().map(|rank| rank.to_string()).collect::<Vec<_>>().join(",")))
}
