//! Operators by name: host time and the device time that they own.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::selection::Selection;
use crate::id::StrId;
use crate::sort;
use crate::time::add_ns;
use crate::trace::kind::EventKind;

/// All calls of one operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorRow {
    /// Its name.
    pub name: String,
    /// How often it was called.
    pub count: u64,
    /// Host time of all calls together.
    pub total_ns: i64,
    /// The part of it that no event inside the calls has.
    pub self_ns: i64,
    /// Device time of the work that the calls and all calls inside them launched.
    pub device_total_ns: i64,
    /// Device time of the work that the calls launched themselves.
    pub device_self_ns: i64,
    /// Id of the longest call.
    pub longest_id: u32,
}

/// Operators by name: the most device time of their own first, then the most host time of their own.
///
/// `total_ns = Σ dur` over the calls that overlap the selection, cut to it; `self_ns = Σ (dur − Σ dur of children)`.
/// Device times are those of whole calls.
pub fn operators(selection: &Selection<'_>) -> Vec<OperatorRow> {
    let linked = selection.linked;
    let (events, device) = (&linked.trace.events, linked.device_time());
    let self_ns = selection.self_ns();
    let mut groups: FxHashMap<StrId, (OperatorRow, i64)> = FxHashMap::default();
    for row in selection.rows().filter(|row| events.kind[*row] == EventKind::Operator) {
        let (group, longest) = groups.entry(events.name[row]).or_insert_with(|| {
            let name = linked.trace.event_name(row).to_owned();
            let id = events.position[row];
            let zero = OperatorRow {
                name,
                count: 0,
                total_ns: 0,
                self_ns: 0,
                device_total_ns: 0,
                device_self_ns: 0,
                longest_id: id,
            };
            (zero, -1)
        });
        let dur = selection.dur_ns(row);
        group.count += 1;
        add_ns(&mut group.total_ns, dur);
        add_ns(&mut group.self_ns, self_ns[row]);
        add_ns(&mut group.device_total_ns, device.total_ns[row]);
        add_ns(&mut group.device_self_ns, device.self_ns[row]);
        if dur > *longest {
            *longest = dur;
            group.longest_id = events.position[row];
        }
    }
    let mut table: Vec<_> = groups.into_values().map(|(row, _)| row).collect();
    sort::by(&mut table, |a, b| {
        let key = |row: &OperatorRow| (row.device_self_ns, row.self_ns);
        key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
    });
    table
}
