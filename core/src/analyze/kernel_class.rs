//! Sums device work by class and by use of tensor cores.

use std::collections::BTreeMap;

use super::kernel::KernelRow;
use crate::sort;
use crate::table::{Table, boolean, float, int, put_name, text};
use crate::time::{add_ns, sum_ns};

/// Device work of one class, by units for matrices or by others.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkClassRow {
    class: &'static str,
    tensor_cores: bool,
    count: u64,
    total_ns: i64,
    share: f64,
}

pub(crate) static TABLE: Table<Vec<WorkClassRow>> = Table {
    name: "kernels_by_class",
    doc: "device work of one class, by units for matrices or by others",
    num_rows: Vec::len,
    columns: &[
        text("class", |rows, at, out| put_name(out, rows[at].class)),
        boolean("tensor_cores", |rows, at| Some(rows[at].tensor_cores)),
        int("count", |rows, at| Some(rows[at].count as i64)),
        int("total_ns", |rows, at| Some(rows[at].total_ns)),
        float("share", |rows, at| Some(rows[at].share)),
    ],
};

/// Those of the most time first; `share = total_ns / Σ total_ns`.
pub(super) fn by_class(kernels: &[KernelRow]) -> Vec<WorkClassRow> {
    let mut classes: BTreeMap<(&'static str, bool), WorkClassRow> = BTreeMap::new();
    for kernel in kernels {
        let (class, tensor_cores) = (kernel.class, kernel.tensor_cores);
        let new = || WorkClassRow { class, tensor_cores, ..WorkClassRow::default() };
        let row = classes.entry((class, tensor_cores)).or_insert_with(new);
        row.count += kernel.count;
        add_ns(&mut row.total_ns, kernel.total_ns);
    }
    let mut rows: Vec<_> = classes.into_values().collect();
    let sum = sum_ns(rows.iter().map(|row| row.total_ns)).max(1);
    rows.iter_mut().for_each(|row| row.share = row.total_ns as f64 / sum as f64);
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.total_ns));
    rows
}
