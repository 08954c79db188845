//! Compares replayed durations of collectives with recorded ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::link::{bus_bytes, gbps};
use crate::table::{Table, TableRows, float, int, put, put_name, text};
use crate::trace::collective::known;

/// Sizes of a message on one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageSizes {
    /// Ranks of the group.
    pub group_size: i64,
    /// Bytes that go in.
    pub in_bytes: i64,
    /// Bytes that come out.
    pub out_bytes: i64,
    /// Of an exchange in uneven parts, the bytes that stay on the rank, of those that go in and
    /// that come out.
    pub kept_bytes: [Option<i64>; 2],
}

/// Measurements of one rank for collectives of equal name, group and size.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplaySample {
    /// Name of the communication.
    pub collective: String,
    /// The name of the process group.
    pub group_name: String,
    /// Type of the elements.
    pub dtype: String,
    /// Sizes of the replayed message.
    pub sizes: MessageSizes,
    /// Sizes of the recorded message, if the replay has others.
    pub recorded_sizes: Option<MessageSizes>,
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
    /// Sizes of the call that is the median of the recorded ones.
    recorded_sizes: MessageSizes,
    replayed_ns: Vec<i64>,
}

/// Samples of all ranks as a table; those with the longest total time first.
///
/// A percentile is the smallest duration that so many are not longer than. Bandwidths are those at
/// the median: the sizes of the replay over its time, and the recorded sizes over the recorded one.
pub fn measured(samples: Vec<ReplaySample>) -> Arc<dyn TableRows> {
    let mut rows: BTreeMap<(String, String, i64, String, i64), Vec<ReplaySample>> = BTreeMap::new();
    for sample in samples {
        let names = (sample.collective.clone(), sample.group_name.clone());
        let (size, bytes) = (sample.sizes.group_size, sample.sizes.bytes());
        rows.entry((names.0, names.1, size, sample.dtype.clone(), bytes)).or_default().push(sample);
    }
    let mut rows: Vec<ReplayMeasurement> = rows.into_values().map(ReplayMeasurement::of).collect();
    rows.sort_by_cached_key(|row| std::cmp::Reverse(total(&row.replayed_ns)));
    REPLAYED.of(&Arc::new(rows))
}

impl MessageSizes {
    fn bytes(&self) -> i64 {
        self.in_bytes.max(self.out_bytes)
    }
}

impl ReplayMeasurement {
    fn of(samples: Vec<ReplaySample>) -> Self {
        let mut row = Self::default();
        let mut recorded = Vec::new();
        for sample in &samples {
            row.num_calls = row.num_calls.saturating_add(sample.num_calls);
            let sizes = sample.recorded_sizes.unwrap_or(sample.sizes);
            recorded.extend(sample.recorded_ns.iter().map(|dur| (*dur, sizes)));
            row.replayed_ns.extend_from_slice(&sample.replayed_ns);
        }
        recorded.sort_unstable();
        row.replayed_ns.sort_unstable();
        row.recorded_sizes = percentile(&recorded, 50).map(|(_, sizes)| sizes).unwrap_or_default();
        row.recorded_ns = recorded.into_iter().map(|(dur, _)| dur).collect();
        let first = samples.into_iter().next().unwrap_or_default();
        row.first = ReplaySample { recorded_ns: Vec::new(), replayed_ns: Vec::new(), ..first };
        row
    }

    fn bytes(&self) -> i64 {
        self.first.sizes.bytes()
    }

    fn bus_bytes(&self, sizes: MessageSizes) -> Option<f64> {
        let (_, pattern) = known(&self.first.collective)?;
        bus_bytes(pattern, sizes.group_size, [sizes.in_bytes, sizes.out_bytes], sizes.kept_bytes)
    }

    fn has_message(&self) -> bool {
        known(&self.first.collective).is_some_and(|(_, pattern)| pattern.has_message())
    }

    fn algorithm_gbps(&self, sizes: MessageSizes, durs: &[i64]) -> Option<f64> {
        gbps(sizes.bytes() as f64, percentile(durs, 50)?).filter(|_| self.has_message())
    }

    fn bus_gbps(&self, sizes: MessageSizes, durs: &[i64]) -> Option<f64> {
        gbps(self.bus_bytes(sizes)?, percentile(durs, 50)?)
    }
}

fn total(durs: &[i64]) -> i64 {
    durs.iter().fold(0_i64, |total, dur| total.saturating_add(*dur))
}

/// Of sorted durations the smallest that `percent` of a hundred are not longer than.
fn percentile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let place = (sorted.len().saturating_mul(percent)).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied()
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
        int("group_size", |rows, row| Some(rows[row].first.sizes.group_size)),
        text("dtype", |rows, row, out| put(out, &rows[row].first.dtype)),
        int("num_calls", |rows, row| Some(rows[row].num_calls)),
        int("num_replayed", |rows, row| Some(rows[row].replayed_ns.len() as i64)),
        int("bytes", |rows, row| Some(rows[row].bytes())),
        int("total_bytes", |rows, row| Some(rows[row].bytes().saturating_mul(rows[row].num_calls))),
        int("p50_ns", |rows, row| percentile(&rows[row].replayed_ns, 50)),
        int("p95_ns", |rows, row| percentile(&rows[row].replayed_ns, 95)),
        int("p99_ns", |rows, row| percentile(&rows[row].replayed_ns, 99)),
        float("algorithm_gbps", |rows, row| rows[row].algorithm_gbps(rows[row].first.sizes, &rows[row].replayed_ns)),
        float("bus_gbps", |rows, row| rows[row].bus_gbps(rows[row].first.sizes, &rows[row].replayed_ns)),
        int("num_recorded", |rows, row| Some(rows[row].recorded_ns.len() as i64)),
        int("recorded_p50_ns", |rows, row| percentile(&rows[row].recorded_ns, 50)),
        int("recorded_p95_ns", |rows, row| percentile(&rows[row].recorded_ns, 95)),
        int("recorded_p99_ns", |rows, row| percentile(&rows[row].recorded_ns, 99)),
        float("recorded_algorithm_gbps", |rows, row| {
            rows[row].algorithm_gbps(rows[row].recorded_sizes, &rows[row].recorded_ns)
        }),
        float("recorded_bus_gbps", |rows, row| rows[row].bus_gbps(rows[row].recorded_sizes, &rows[row].recorded_ns)),
        float("replayed_to_recorded", |rows, row| ratio(&rows[row])),
    ],
};
