//! Tables of counters: their means by owner, and the counters themselves.

use std::cmp::Reverse;
use std::sync::Arc;

use super::group::{CounterGroups, OwnerTotal};
use super::sampled_spans::SpanSums;
use crate::sort;
use crate::table::{Table, boolean, float, int, put, put_name, text};

/// Where the values of a counter come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CounterSource {
    /// Samples over time.
    Samples,
    /// Values that the file states for each event.
    Events,
}

impl CounterSource {
    fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Events => "events",
        }
    }
}

/// A counter of the trace.
#[derive(Debug, Clone)]
pub(super) struct CounterRow {
    pub(super) name: String,
    pub(super) unit: Option<&'static str>,
    pub(super) source: CounterSource,
    pub(super) device: Option<i64>,
    /// Samples, or events with a value.
    pub(super) num_values: u64,
    pub(super) period_ns: Option<i64>,
    pub(super) sampled_ns: Option<i64>,
    /// Whether it has a device, or other times, and its rows fit.
    pub(super) is_joined: bool,
}

/// A counter over the time of one owner.
#[derive(Debug, Clone, Copy)]
pub(super) struct CounterMean {
    pub(super) group: u32,
    pub(super) counter: u32,
    pub(super) device: Option<i64>,
    pub(super) total: OwnerTotal,
    pub(super) sums: SpanSums,
}

/// Means of counters, and what their rows refer to.
#[derive(Debug, Default)]
pub(super) struct CounterMeans {
    pub(super) groups: CounterGroups,
    pub(super) counters: Arc<Vec<CounterRow>>,
    pub(super) rows: Vec<CounterMean>,
}

impl CounterMeans {
    /// Sorts: the most time first, then by owner and counter.
    pub(super) fn sort(&mut self) {
        let (names, counters) = (&self.groups.names, &self.counters);
        sort::by(&mut self.rows, |a, b| {
            let key = |row: &CounterMean| (Reverse(row.total.total_ns), row.device);
            let words =
                |row: &CounterMean| (&names[row.group as usize], row.group, &counters[row.counter as usize].name);
            key(a).cmp(&key(b)).then_with(|| words(a).cmp(&words(b)))
        });
    }

    fn counter(&self, at: usize) -> &CounterRow {
        &self.counters[self.rows[at].counter as usize]
    }
}

pub(super) static TABLE: Table<CounterMeans> = Table {
    name: "counter_means",
    doc: "a counter over the time of one kernel, operator, module, iteration, device or event",
    num_rows: |means| means.rows.len(),
    columns: &[
        text("name", |means, at, out| put_name(out, &means.groups.names[means.rows[at].group as usize])),
        int("id", |means, at| means.groups.ids[means.rows[at].group as usize].map(i64::from)),
        text("counter", |means, at, out| put_name(out, &means.counter(at).name)),
        text("unit", |means, at, out| means.counter(at).unit.is_some_and(|unit| put(out, unit))),
        text("source", |means, at, out| put_name(out, means.counter(at).source.name())),
        int("device", |means, at| means.rows[at].device),
        int("period_ns", |means, at| means.counter(at).period_ns),
        int("count", |means, at| Some(means.rows[at].total.count as i64)),
        int("total_ns", |means, at| Some(means.rows[at].total.total_ns)),
        int("sampled_ns", |means, at| Some(means.rows[at].sums.sampled_ns)),
        float("sampled_share", |means, at| {
            let CounterMean { total, sums, .. } = means.rows[at];
            (total.total_ns > 0).then(|| sums.sampled_ns as f64 / total.total_ns as f64)
        }),
        float("mean", |means, at| means.rows[at].sums.mean()),
        float("min", |means, at| means.rows[at].sums.bounds().map(|(least, _)| least)),
        float("max", |means, at| means.rows[at].sums.bounds().map(|(_, greatest)| greatest)),
    ],
};

pub(super) static COUNTERS: Table<Vec<CounterRow>> = Table {
    name: "sampled_counters",
    doc: "a counter of the trace: its samples, their period, and the time that they stand for",
    num_rows: Vec::len,
    columns: &[
        text("counter", |rows, at, out| put_name(out, &rows[at].name)),
        text("unit", |rows, at, out| rows[at].unit.is_some_and(|unit| put(out, unit))),
        text("source", |rows, at, out| put_name(out, rows[at].source.name())),
        int("device", |rows, at| rows[at].device),
        int("num_values", |rows, at| Some(rows[at].num_values as i64)),
        int("period_ns", |rows, at| rows[at].period_ns),
        int("sampled_ns", |rows, at| rows[at].sampled_ns),
        boolean("is_joined", |rows, at| Some(rows[at].is_joined)),
    ],
};
