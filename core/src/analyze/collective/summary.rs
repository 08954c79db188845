//! Groups collectives by name, process group, type and size.

use std::collections::BTreeMap;

use super::skew::SkewRow;
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text};
use crate::time::sum_ns;

/// All communications of one kind, group and size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CollectiveSummaryRow {
    like: CollectiveKey,
    totals: CollectiveTotals,
}

/// Times and bandwidths of several communications.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::analyze) struct CollectiveTotals {
    /// Each communication once for all ranks.
    pub(in crate::analyze) count: u64,
    /// The largest message of any rank, summed over communications; `None` where none is known.
    pub(in crate::analyze) bytes: Option<i64>,
    /// Summed over communications and ranks; `None` where none is known.
    pub(in crate::analyze) total_ns: Option<i64>,
    /// Summed over communications and ranks; `None` where none is known.
    pub(in crate::analyze) wait_ns: Option<i64>,
    /// Summed over communications; `None` where none is known.
    pub(in crate::analyze) transfer_ns: Option<i64>,
    /// Least, median and greatest.
    pub(in crate::analyze) bus_gbps: Option<[f64; 3]>,
}

/// The key of a group of collectives: name, process group, its size, element type and message
/// bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct CollectiveKey {
    collective: Option<String>,
    group_name: Option<String>,
    group_desc: Option<String>,
    group_size: Option<i64>,
    dtype: Option<String>,
    bytes: Option<i64>,
}

pub(crate) static TABLE: Table<Vec<CollectiveSummaryRow>> = Table {
    name: "collective_summary",
    doc: "all collectives of one type, process group and size",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<CollectiveSummaryRow>>] = &[
    text("collective", |rows, at, out| put(out, rows[at].like.collective.as_deref().unwrap_or_default())),
    text("group_name", |rows, at, out| rows[at].like.group_name.as_ref().is_some_and(|name| put_name(out, name))),
    text("group_desc", |rows, at, out| rows[at].like.group_desc.as_ref().is_some_and(|desc| put_name(out, desc))),
    int("group_size", |rows, at| rows[at].like.group_size),
    text("dtype", |rows, at, out| put(out, rows[at].like.dtype.as_deref().unwrap_or_default())),
    int("bytes", |rows, at| rows[at].like.bytes),
    int("count", |rows, at| Some(rows[at].totals.count as i64)),
    int("total_ns", |rows, at| rows[at].totals.total_ns),
    int("wait_ns", |rows, at| rows[at].totals.wait_ns),
    int("transfer_ns", |rows, at| rows[at].totals.transfer_ns),
    float("min_bus_gbps", |rows, at| Some(rows[at].totals.bus_gbps?[0])),
    float("median_bus_gbps", |rows, at| Some(rows[at].totals.bus_gbps?[1])),
    float("max_bus_gbps", |rows, at| Some(rows[at].totals.bus_gbps?[2])),
];

/// Like communications together, those that took the ranks most time first.
///
/// `total_ns` and `wait_ns` are sums over communications and ranks, `transfer_ns` over
/// communications.
pub(super) fn summary(skews: &[SkewRow]) -> Vec<CollectiveSummaryRow> {
    let mut by_like: BTreeMap<CollectiveKey, Vec<&SkewRow>> = BTreeMap::new();
    for skew in skews {
        let like = CollectiveKey {
            collective: skew.collective.clone(),
            group_name: skew.group.0.clone(),
            group_desc: skew.group.1.clone(),
            group_size: skew.group_size,
            dtype: skew.dtype.clone(),
            bytes: skew.bytes,
        };
        by_like.entry(like).or_default().push(skew);
    }
    let row = |(like, skews): (CollectiveKey, Vec<&SkewRow>)| CollectiveSummaryRow {
        like,
        totals: CollectiveTotals::of(&skews),
    };
    let mut rows: Vec<_> = by_like.into_iter().map(row).collect();
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.totals.total_ns));
    rows
}

impl CollectiveTotals {
    /// Adds up communications.
    pub(in crate::analyze) fn of(skews: &[&SkewRow]) -> Self {
        let known = |get: fn(&SkewRow) -> Option<i64>| {
            let values: Vec<_> = skews.iter().filter_map(|skew| get(skew)).collect();
            (!values.is_empty()).then(|| sum_ns(values))
        };
        let mut speeds: Vec<_> = skews.iter().filter_map(|skew| skew.bus_gbps).collect();
        sort::by(&mut speeds, f64::total_cmp);
        let middle = speeds.get(speeds.len().saturating_sub(1) / 2).copied();
        let speeds = speeds.first().copied().zip(middle).zip(speeds.last().copied());
        Self {
            count: skews.len() as u64,
            bytes: known(|skew| skew.bytes),
            total_ns: known(|skew| skew.total_ns),
            wait_ns: known(|skew| skew.wait_ns),
            transfer_ns: known(|skew| skew.transfer_ns),
            bus_gbps: speeds.map(|((least, middle), most)| [least, middle, most]),
        }
    }
}
