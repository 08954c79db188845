//! Compares replayed durations of collectives with recorded ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::link::{bus_bytes, gbps};
use crate::table::{Table, TableRows, float, int, put, put_name, text};
use crate::trace::collective::known;

/// Measurements of one rank for collectives of equal name, group and size.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplaySample {
    /// Name of the communication.
    pub collective: String,
    /// The name of the process group.
    pub group_name: String,
    /// Ranks of the group.
    pub group_size: i64,
    /// Type of the elements.
    pub dtype: String,
    /// Bytes that go in.
    pub in_bytes: i64,
    /// Bytes that come out.
    pub out_bytes: i64,
    /// Of an exchange in uneven parts, the bytes that stay on the rank, of those that go in and
    /// that come out.
    pub kept_bytes: [Option<i64>; 2],
    /// Calls in the plan.
    pub num_calls: i64,
    /// How long each took when it was recorded.
    pub recorded_ns: Vec<i64>,
    /// How long each took when it was replayed, as often as it was.
    pub replayed_ns: Vec<i64>,
}

/// Measurements of all ranks for collectives of equal name, group and size.
#[derive(Debug, Clone, Default)]
pub struct ReplayMeasurement {
    first: ReplaySample,
    num_calls: i64,
    recorded_ns: Vec<i64>,
    replayed_ns: Vec<i64>,
}

/// Samples of all ranks as a table; those with the longest total time first.
///
/// A percentile is the smallest duration that so many are not longer than. Bandwidths are those at
/// the median.
pub fn measured(samples: Vec<ReplaySample>) -> Arc<dyn TableRows> {
    let mut rows: BTreeMap<(String, String, i64, String, i64), ReplayMeasurement> = BTreeMap::new();
    for sample in samples {
        let bytes = sample.in_bytes.max(sample.out_bytes);
        let names = (sample.collective.clone(), sample.group_name.clone());
        let row = rows.entry((names.0, names.1, sample.group_size, sample.dtype.clone(), bytes)).or_default();
        row.num_calls = row.num_calls.saturating_add(sample.num_calls);
        row.recorded_ns.extend_from_slice(&sample.recorded_ns);
        row.replayed_ns.extend_from_slice(&sample.replayed_ns);
        if row.first.collective.is_empty() {
            row.first = ReplaySample { recorded_ns: Vec::new(), replayed_ns: Vec::new(), ..sample };
        }
    }
    let mut rows: Vec<ReplayMeasurement> = rows.into_values().collect();
    for row in &mut rows {
        row.recorded_ns.sort_unstable();
        row.replayed_ns.sort_unstable();
    }
    rows.sort_by_cached_key(|row| std::cmp::Reverse(total(&row.replayed_ns)));
    REPLAYED.of(&Arc::new(rows))
}

impl ReplayMeasurement {
    fn bytes(&self) -> i64 {
        self.first.in_bytes.max(self.first.out_bytes)
    }

    fn bus_bytes(&self) -> Option<f64> {
        let (_, pattern) = known(&self.first.collective)?;
        bus_bytes(pattern, self.first.group_size, [self.first.in_bytes, self.first.out_bytes], self.first.kept_bytes)
    }

    fn has_message(&self) -> bool {
        known(&self.first.collective).is_some_and(|(_, pattern)| pattern.has_message())
    }
}

fn total(durs: &[i64]) -> i64 {
    durs.iter().fold(0_i64, |total, dur| total.saturating_add(*dur))
}

/// Of sorted durations the smallest that `percent` of a hundred are not longer than.
fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let place = (sorted.len().saturating_mul(percent)).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied()
}

fn algorithm_gbps(row: &ReplayMeasurement, durs: &[i64]) -> Option<f64> {
    gbps(row.bytes() as f64, percentile(durs, 50)?).filter(|_| row.has_message())
}

fn bus_gbps(row: &ReplayMeasurement, durs: &[i64]) -> Option<f64> {
    gbps(row.bus_bytes()?, percentile(durs, 50)?)
}

fn ratio(row: &ReplayMeasurement) -> Option<f64> {
    let recorded = percentile(&row.recorded_ns, 50).filter(|dur| *dur > 0)?;
    Some(percentile(&row.replayed_ns, 50)? as f64 / recorded as f64)
}

/// One row for communications of one name, group and size, on all ranks.
static REPLAYED: Table<Vec<ReplayMeasurement>> = Table {
    name: "replayed",
    doc: "all collectives of one name, group and size: replayed and recorded durations",
    num_rows: Vec::len,
    columns: &[
        text("collective", |rows, row, out| put(out, &rows[row].first.collective)),
        text("group_name", |rows, row, out| put_name(out, &rows[row].first.group_name)),
        int("group_size", |rows, row| Some(rows[row].first.group_size)),
        text("dtype", |rows, row, out| put(out, &rows[row].first.dtype)),
        int("num_calls", |rows, row| Some(rows[row].num_calls)),
        int("num_replayed", |rows, row| Some(rows[row].replayed_ns.len() as i64)),
        int("bytes", |rows, row| Some(rows[row].bytes())),
        int("total_bytes", |rows, row| Some(rows[row].bytes().saturating_mul(rows[row].num_calls))),
        int("p50_ns", |rows, row| percentile(&rows[row].replayed_ns, 50)),
        int("p95_ns", |rows, row| percentile(&rows[row].replayed_ns, 95)),
        int("p99_ns", |rows, row| percentile(&rows[row].replayed_ns, 99)),
        float("algorithm_gbps", |rows, row| algorithm_gbps(&rows[row], &rows[row].replayed_ns)),
        float("bus_gbps", |rows, row| bus_gbps(&rows[row], &rows[row].replayed_ns)),
        int("num_recorded", |rows, row| Some(rows[row].recorded_ns.len() as i64)),
        int("recorded_p50_ns", |rows, row| percentile(&rows[row].recorded_ns, 50)),
        int("recorded_p95_ns", |rows, row| percentile(&rows[row].recorded_ns, 95)),
        int("recorded_p99_ns", |rows, row| percentile(&rows[row].recorded_ns, 99)),
        float("recorded_algorithm_gbps", |rows, row| algorithm_gbps(&rows[row], &rows[row].recorded_ns)),
        float("recorded_bus_gbps", |rows, row| bus_gbps(&rows[row], &rows[row].recorded_ns)),
        float("replayed_to_recorded", |rows, row| ratio(&rows[row])),
    ],
};
