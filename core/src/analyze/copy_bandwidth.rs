//! Measures the bandwidth of copies and fills.

use std::collections::BTreeMap;

use super::analysis::{Analysis, Run};
use super::class::{WorkClass, classes};
use super::options::Options;
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::Ts;
use crate::trace::arg_key::ArgKey;

/// How fast memory was moved.
pub(super) static COPY_BANDWIDTH: Analysis = Analysis {
    name: "copy_bandwidth",
    doc: "bytes, time and bandwidth of copies and fills, by source and destination",
    options: &[],
    run: Run::Trace(|selection, _: &Options| {
        let copies = copies(selection);
        let series = series(&copies);
        AnalysisResult::of(&TABLE, copy_bandwidth(&copies), "no copy or fill was recorded")
            .and(&SERIES, series)
            .drawn_from(SERIES.name, Plot::Steps { time: "time_ns", value: "gbps", series: Some("direction") })
    }),
};

/// A copy or a fill.
#[derive(Debug, Clone)]
struct CopyEvent<'a> {
    device: Option<i64>,
    direction: &'a str,
    memory: &'a str,
    start: Ts,
    end: Ts,
    dur_ns: i64,
    bytes: Option<i64>,
    gbps: Option<f64>,
}

/// All copies or fills of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CopyRow {
    /// The direction: the name before its parentheses, such as `Memcpy HtoD`.
    direction: String,
    /// The memory kinds in the parentheses, such as `Pageable -> Device`; empty without any.
    memory: String,
    /// How many.
    count: u64,
    /// Their time together.
    total_ns: i64,
    /// Their `bytes` together; `None` where the file gives none.
    total_bytes: Option<i64>,
    /// `total_bytes / total_ns`, of those with `bytes`.
    mean_gbps: Option<f64>,
    /// The lowest bandwidth of one: as the file gives it (`memory bandwidth (GB/s)`), else `bytes /
    /// dur`.
    min_gbps: Option<f64>,
    /// The highest.
    max_gbps: Option<f64>,
}

static TABLE: Table<Vec<CopyRow>> =
    Table { name: "copy_bandwidth", doc: "all copies or fills of one kind", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<CopyRow>>] = &[
    text("direction", |rows, at, out| put_name(out, &rows[at].direction)),
    text("memory", |rows, at, out| crate::table::put(out, &rows[at].memory)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("total_bytes", |rows, at| rows[at].total_bytes),
    float("mean_gbps", |rows, at| rows[at].mean_gbps),
    float("min_gbps", |rows, at| rows[at].min_gbps),
    float("max_gbps", |rows, at| rows[at].max_gbps),
];

/// A change of the bandwidth that copies and fills of one direction have together on a device.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BandwidthPoint {
    device: Option<i64>,
    direction: String,
    time: Ts,
    gbps: f64,
}

static SERIES: Table<Vec<BandwidthPoint>> = Table {
    name: "copy_bandwidth_series",
    doc: "a change of the total bandwidth of copies or fills in one direction on a device",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        text("direction", |rows, at, out| put_name(out, &rows[at].direction)),
        int("time_ns", |rows, at| Some(rows[at].time.0)),
        float("gbps", |rows, at| Some(rows[at].gbps)),
    ],
};

fn copies<'a>(selection: &Selection<'a>) -> Vec<CopyEvent<'a>> {
    let trace = &selection.linked.trace;
    let (events, classes) = (&trace.events, classes(selection.linked));
    let copy = |row: usize| {
        let args = events.args(row);
        let bytes = trace.args.integer(&trace.strings, args, ArgKey::Bytes).filter(|bytes| *bytes >= 0);
        let told =
            trace.args.float(&trace.strings, args, ArgKey::Bandwidth).filter(|gbps| gbps.is_finite() && *gbps > 0.0);
        let dur_ns = events.dur.at(row).0;
        let (direction, memory) = named(trace.event_name(row));
        CopyEvent {
            device: trace.device(row),
            direction,
            memory,
            start: events.start.at(row),
            end: events.end(row),
            dur_ns,
            bytes,
            gbps: told.or_else(|| bytes.map(|bytes| bytes as f64 / dur_ns.max(1) as f64)),
        }
    };
    selection.device_work().filter(|row| classes[*row] == WorkClass::Memory).map(copy).collect()
}

/// `Memcpy HtoD (Pageable -> Device)` is `Memcpy HtoD`, of `Pageable -> Device`.
fn named(name: &str) -> (&str, &str) {
    match name.split_once('(') {
        Some((direction, memory)) => (direction.trim(), memory.trim_end_matches(')').trim()),
        None => (name, ""),
    }
}

/// Copies and fills by kind, those of the most time first. Whole ones, also where the selection
/// cuts them.
fn copy_bandwidth(copies: &[CopyEvent<'_>]) -> Vec<CopyRow> {
    let mut groups: BTreeMap<(&str, &str), Vec<&CopyEvent<'_>>> = BTreeMap::new();
    copies.iter().for_each(|copy| groups.entry((copy.direction, copy.memory)).or_default().push(copy));
    let row = |((direction, memory), copies): ((&str, &str), Vec<&CopyEvent<'_>>)| {
        let sized: Vec<_> = copies.iter().filter_map(|copy| Some((copy.bytes?, copy.dur_ns))).collect();
        let total_bytes = sized.iter().fold(0_i64, |sum, (bytes, _)| sum.saturating_add(*bytes));
        let sized_ns = crate::time::sum_ns(sized.iter().map(|(_, ns)| *ns));
        let each = || copies.iter().filter_map(|copy| copy.gbps);
        CopyRow {
            direction: direction.to_owned(),
            memory: memory.to_owned(),
            count: copies.len() as u64,
            total_ns: crate::time::sum_ns(copies.iter().map(|copy| copy.dur_ns)),
            total_bytes: (!sized.is_empty()).then_some(total_bytes),
            mean_gbps: (sized_ns > 0).then(|| total_bytes as f64 / sized_ns as f64),
            min_gbps: each().reduce(f64::min),
            max_gbps: each().reduce(f64::max),
        }
    };
    let mut rows: Vec<_> = groups.into_iter().map(row).collect();
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.total_ns));
    rows
}

/// When, how many more run then, and by how much that changes the bandwidth.
type BandwidthChange = (Ts, i64, f64);

/// The bandwidth of each direction on each device over time: the sum of those that run.
fn series(copies: &[CopyEvent<'_>]) -> Vec<BandwidthPoint> {
    let mut changes: BTreeMap<(Option<i64>, &str), Vec<BandwidthChange>> = BTreeMap::new();
    for copy in copies {
        let Some(gbps) = copy.gbps else { continue };
        let end = copy.end.max(Ts(copy.start.0.saturating_add(1)));
        let of_link = changes.entry((copy.device, copy.direction)).or_default();
        of_link.extend([(copy.start, 1, gbps), (end, -1, -gbps)]);
    }
    let mut points = Vec::new();
    for ((device, direction), mut changes) in changes {
        sort::by_key(&mut changes, |(time, ..)| *time);
        let (mut running, mut gbps) = (0, 0.0);
        for (at, (time, change, by)) in changes.iter().enumerate() {
            running += change;
            // Sums of floats leave something behind, where nothing runs any more.
            gbps = if running == 0 { 0.0 } else { gbps + by };
            if changes.get(at + 1).is_none_or(|next| next.0 != *time) {
                points.push(BandwidthPoint { device, direction: direction.to_owned(), time: *time, gbps });
            }
        }
    }
    points
}
