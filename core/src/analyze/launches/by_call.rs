//! Sums launches by the call that made them.

use rustc_hash::FxHashMap;

use super::row::LaunchRows;
use crate::id::StrId;
use crate::sort;
use crate::table::{Table, int, put_name, text};
use crate::time::add_ns;

/// All launches by one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LaunchCallRow {
    name: String,
    count: i64,
    num_device_events: i64,
    total_ns: i64,
    device_total_ns: i64,
    /// Of the device events whose delay is known.
    num_delays: i64,
    delay_ns: i64,
    max_delay_ns: i64,
    num_longer_than_work: i64,
}

pub(super) static TABLE: Table<Vec<LaunchCallRow>> = Table {
    name: "launches_by_call",
    doc: "all launches by one function of the runtime or driver",
    num_rows: Vec::len,
    columns: &[
        text("name", |rows, at, out| put_name(out, &rows[at].name)),
        int("count", |rows, at| Some(rows[at].count)),
        int("num_device_events", |rows, at| Some(rows[at].num_device_events)),
        int("total_ns", |rows, at| Some(rows[at].total_ns)),
        int("device_total_ns", |rows, at| Some(rows[at].device_total_ns)),
        int("mean_delay_ns", |rows, at| rows[at].delay_ns.checked_div(rows[at].num_delays)),
        int("max_delay_ns", |rows, at| Some(rows[at].max_delay_ns).filter(|_| rows[at].num_delays > 0)),
        int("num_longer_than_work", |rows, at| Some(rows[at].num_longer_than_work)),
    ],
};

/// Launches by the name of their call, that of the most host time first. `num_longer_than_work`
/// counts the device events that took less time than their launch.
pub(super) fn by_call(launches: &LaunchRows) -> Vec<LaunchCallRow> {
    let trace = &launches.linked.trace;
    let mut groups: FxHashMap<StrId, LaunchCallRow> = FxHashMap::default();
    let mut before = None;
    for row in &launches.rows {
        let (dur_ns, device_dur_ns) = (launches.dur_ns(row.launch), launches.dur_ns(row.device));
        let call = groups.entry(trace.events.name.at(row.launch as usize)).or_default();
        // A launch of several stands in neighbouring rows.
        if before.replace(row.launch) != Some(row.launch) {
            call.count += 1;
            add_ns(&mut call.total_ns, dur_ns);
        }
        call.num_device_events += 1;
        add_ns(&mut call.device_total_ns, device_dur_ns);
        if let Some(delay_ns) = launches.delay_ns(*row) {
            call.num_delays += 1;
            add_ns(&mut call.delay_ns, delay_ns);
            call.max_delay_ns = call.max_delay_ns.max(delay_ns);
        }
        call.num_longer_than_work += i64::from(dur_ns > device_dur_ns);
    }
    let named =
        |(name, call): (StrId, LaunchCallRow)| LaunchCallRow { name: trace.strings.text(name).to_owned(), ..call };
    let mut calls: Vec<_> = groups.into_iter().map(named).collect();
    sort::by(&mut calls, |a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
    calls
}
