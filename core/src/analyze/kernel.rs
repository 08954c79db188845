//! Work on devices by name.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::selection::Selection;
use crate::id::StrId;
use crate::sort;
use crate::time::sum_ns;

/// All executions of one kernel, copy or fill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelRow {
    /// Its name.
    pub name: String,
    /// `kernel`, `copy` or `fill`.
    pub kind: &'static str,
    /// How often it ran.
    pub count: u64,
    /// Time of all runs together.
    pub total_ns: i64,
    /// `total_ns / count`, rounded down.
    pub mean_ns: i64,
    /// Shortest run.
    pub min_ns: i64,
    /// Longest run.
    pub max_ns: i64,
    /// `total_ns` over the total of all device work.
    pub share: f64,
    /// Id of the longest run.
    pub longest_id: u32,
}

/// Kernels, copies and fills by name, the longest total first.
///
/// `total_ns = Σ dur` over the executions that overlap the selection, cut to it.
pub fn kernels(selection: &Selection<'_>) -> Vec<KernelRow> {
    let trace = &selection.linked.trace;
    let events = &trace.events;
    let mut groups: FxHashMap<(StrId, &'static str), Vec<usize>> = FxHashMap::default();
    for row in selection.rows().filter(|row| events.kind[*row].is_device_work()) {
        groups.entry((events.name[row], events.kind[row].name())).or_default().push(row);
    }
    let row = |((name, kind), rows): ((StrId, &'static str), Vec<usize>)| {
        let durs = rows.iter().map(|row| selection.dur_ns(*row));
        let total_ns = sum_ns(durs.clone());
        let count = rows.len() as u64;
        let longest = rows.iter().copied().max_by_key(|row| (selection.dur_ns(*row), std::cmp::Reverse(*row)));
        KernelRow {
            name: trace.strings.text(name).to_owned(),
            kind,
            count,
            total_ns,
            mean_ns: total_ns / count.max(1) as i64,
            min_ns: durs.clone().min().unwrap_or(0),
            max_ns: durs.max().unwrap_or(0),
            share: 0.0,
            longest_id: longest.map_or(0, |row| events.position[row]),
        }
    };
    let mut table: Vec<_> = groups.into_iter().map(row).collect();
    sort::by(&mut table, |a, b| b.total_ns.cmp(&a.total_ns).then_with(|| (&a.name, a.kind).cmp(&(&b.name, b.kind))));
    let sum = sum_ns(table.iter().map(|row| row.total_ns));
    table.iter_mut().for_each(|row| row.share = row.total_ns as f64 / sum.max(1) as f64);
    table
}
