//! The table of communications.

use super::event::id;
use super::{Table, float, int, put, text, uint};
use crate::link::{Collective, LinkedTrace};
use crate::time::TimeRange;
use crate::trace::group::Ranks;

/// One row a communication.
pub(super) static COLLECTIVES: Table = Table {
    name: "collectives",
    doc: "a communication between ranks",
    num_rows: |linked| linked.collectives().rows.len(),
    columns: &[
        text("sources", |linked, row, out| put(out, &sources(of(linked, row)))),
        int("event_id", |linked, row| of(linked, row).event.or(of(linked, row).run).map(|event| id(linked, event))),
        uint("node_id", |linked, row| of(linked, row).node.map(|node| linked.trace.nodes[node as usize].id)),
        int("device_event_id", |linked, row| of(linked, row).device_events.first().map(|event| id(linked, *event))),
        int("num_device_events", |linked, row| Some(of(linked, row).device_events.len() as i64)),
        text("collective", |linked, row, out| put_some(out, of(linked, row).name.as_deref())),
        text("group_name", |linked, row, out| {
            put_some(
                out,
                of(linked, row)
                    .facts
                    .group_name
                    .as_deref()
                    .or_else(|| Some(linked.process_groups().get(of(linked, row).group? as usize)?.name.as_str())),
            )
        }),
        text("group_desc", |linked, row, out| put_some(out, of(linked, row).facts.group_desc.as_deref())),
        int("group_size", |linked, row| of(linked, row).facts.group_size),
        text("ranks", |linked, row, out| of(linked, row).ranks.as_ref().is_some_and(|ranks| put_ranks(out, ranks))),
        int("seq", |linked, row| of(linked, row).facts.seq),
        text("is_p2p", |linked, row, out| put_truth(out, of(linked, row).is_p2p())),
        int("src_rank", |linked, row| of(linked, row).src_rank),
        int("dst_rank", |linked, row| of(linked, row).dst_rank),
        int("root_rank", |linked, row| of(linked, row).root_rank),
        text("dtype", |linked, row, out| put_some(out, of(linked, row).facts.dtype.as_deref())),
        int("in_elems", |linked, row| of(linked, row).facts.in_elems),
        int("out_elems", |linked, row| of(linked, row).facts.out_elems),
        int("in_bytes", |linked, row| of(linked, row).in_bytes()),
        int("out_bytes", |linked, row| of(linked, row).out_bytes()),
        text("in_split", |linked, row, out| put_some(out, of(linked, row).facts.in_split.as_deref())),
        text("out_split", |linked, row, out| put_some(out, of(linked, row).facts.out_split.as_deref())),
        text("is_async", |linked, row, out| put_truth(out, of(linked, row).is_async())),
        int("wait", |linked, row| wait(linked, row)?.event.map(|event| id(linked, event))),
        uint("wait_node", |linked, row| wait(linked, row)?.node.map(|node| linked.trace.nodes[node as usize].id)),
        int("iteration", |linked, row| {
            let first =
                of(linked, row).event.or(of(linked, row).run).or(of(linked, row).device_events.first().copied());
            let at = linked.links.iteration.get(first? as usize)?;
            Some(linked.links.iterations[at as usize].number)
        }),
        int("host_start_ns", |linked, row| {
            of(linked, row).event.map(|event| linked.trace.events.start[event as usize].0)
        }),
        int("host_dur_ns", |linked, row| of(linked, row).event.map(|event| linked.trace.events.dur[event as usize].0)),
        int("start_ns", |linked, row| time(linked, row).map(|time| time.start.0)),
        int("dur_ns", |linked, row| time(linked, row).map(|time| time.dur().0)),
        float("algorithm_gbps", |linked, row| of(linked, row).algorithm_gbps(&linked.trace)),
        float("bus_gbps", |linked, row| of(linked, row).bus_gbps(&linked.trace)),
    ],
};

fn of(linked: &LinkedTrace, row: usize) -> &Collective {
    &linked.collectives().rows[row]
}

fn wait(linked: &LinkedTrace, row: usize) -> Option<&Collective> {
    linked.collectives().wait_for(of(linked, row))
}

fn time(linked: &LinkedTrace, row: usize) -> Option<TimeRange> {
    of(linked, row).time(&linked.trace)
}

/// Which of the recordings know of it.
fn sources(row: &Collective) -> String {
    let host = row.event.or(row.run).map(|_| "host");
    let device = (!row.device_events.is_empty()).then_some("device");
    [row.node.map(|_| "node"), host, device].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn put_some(out: &mut String, text: Option<&str>) -> bool {
    text.is_some_and(|text| put(out, text))
}

fn put_truth(out: &mut String, truth: Option<bool>) -> bool {
    put_some(out, truth.map(|truth| if truth { "true" } else { "false" }))
}

/// More ranks than these are not repeated in every row: the table of process groups has them.
const MAX_RANKS: i64 = 1024;

fn put_ranks(out: &mut String, ranks: &Ranks) -> bool {
    let is_short = ranks.size() <= MAX_RANKS;
    is_short && put(out, &format!("[{}]", ranks.iter().map(|rank| rank.to_string()).collect::<Vec<_>>().join(",")))
}
