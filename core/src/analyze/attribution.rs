//! Attributes each nanosecond of device work to at most one operator or annotation.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::selection::Selection;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::{add_ns, sum_ns};
use crate::trace::kind::EventKind;

/// Device work of one owner.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OwnerRow {
    name: String,
    kind: &'static str,
    count: i64,
    total_ns: i64,
    share: f64,
}

pub(super) static TABLE: Table<Vec<OwnerRow>> = Table {
    name: "device_attribution",
    doc: "the device work of one operator or annotation, or of none (`unlinked`)",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<OwnerRow>>] = &[
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    int("count", |rows, at| Some(rows[at].count)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    float("share", |rows, at| Some(rows[at].share)),
];

const UNLINKED: &str = "unlinked";

/// Kernels, copies and fills by the innermost operator or annotation around their launch; the
/// longest total first.
///
/// `Σ total_ns = Σ dur` of all selected device work; work without an owner is `unlinked`.
pub(super) fn attribution(selection: &Selection<'_>) -> Vec<OwnerRow> {
    let (trace, links) = (&selection.linked.trace, &selection.linked.links);
    let mut owners: BTreeMap<(Cow<'_, str>, &'static str), (i64, i64)> = BTreeMap::new();
    for row in selection.device_work() {
        let owner = links.operator.get(row).map(|owner| owner as usize);
        let named = |owner: usize| (Cow::Borrowed(trace.event_name(owner)), trace.events.kind[owner].name());
        let captured = trace.stated_operator(row).map(|name| (Cow::Owned(name), EventKind::Operator.name()));
        let key = captured.or_else(|| owner.map(named)).unwrap_or((Cow::Borrowed(UNLINKED), UNLINKED));
        let (count, total_ns) = owners.entry(key).or_default();
        *count += 1;
        add_ns(total_ns, selection.dur_ns(row));
    }
    let all_ns = sum_ns(owners.values().map(|(_, ns)| *ns)).max(1);
    let row = |((name, kind), (count, total_ns)): ((Cow<'_, str>, &'static str), (i64, i64))| OwnerRow {
        name: name.into_owned(),
        kind,
        count,
        total_ns,
        share: total_ns as f64 / all_ns as f64,
    };
    let mut rows: Vec<_> = owners.into_iter().map(row).collect();
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.total_ns));
    rows
}
