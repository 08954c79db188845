//! Sums the operations of module classes, with their share of the device's peak.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::operation_sum::OperationSum;
use super::row::RooflineRows;
use crate::analyze::device::Peaks;
use crate::analyze::module::class_of;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::add_ns;

/// The operations in the modules of one class, with all modules inside them.
#[derive(Debug, Clone)]
pub(crate) struct ModuleFlops {
    class: String,
    /// Time of all operators but those that communicate.
    total_ns: i64,
    sum: OperationSum,
}

/// `tflops = flops / total_ns`, `share_of_peak = Σ (flops of a call / peak of its type) /
/// total_ns`. Both are lower bounds: they cover `covered_share = counted_ns / total_ns`.
pub(crate) static TABLE: Table<Vec<ModuleFlops>> = Table {
    name: "roofline_modules",
    doc: "the operations in modules of one class and in all modules inside them",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<ModuleFlops>>] = &[
    text("class", |rows, at, out| put_name(out, &rows[at].class)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("flops", |rows, at| Some(rows[at].sum.flops)),
    int("bytes", |rows, at| Some(rows[at].sum.bytes)),
    float("tflops", |rows, at| rows[at].per_ns(rows[at].sum.flops as f64 / 1e3)),
    float("share_of_peak", |rows, at| rows[at].per_ns(rows[at].sum.compute_ns?)),
    float("covered_share", |rows, at| rows[at].per_ns(rows[at].sum.counted_ns as f64)),
];

impl ModuleFlops {
    fn new(class: &str) -> Self {
        Self { class: class.to_owned(), total_ns: 0, sum: OperationSum::default() }
    }

    fn per_ns(&self, value: f64) -> Option<f64> {
        (self.total_ns > 0).then(|| value / self.total_ns as f64)
    }
}

/// A row for each class, the one of the most time first.
pub(super) fn rows(linked: &LinkedTrace, rows: &RooflineRows, peaks: Option<&Peaks>) -> Vec<ModuleFlops> {
    let mut classes: BTreeMap<String, ModuleFlops> = BTreeMap::new();
    let mut known: FxHashMap<u32, BTreeSet<String>> = FxHashMap::default();
    for call in &rows.calls {
        let of_call = |row: u32| linked.modules_around(row).map(|name| class_of(name).to_owned()).collect();
        let around = match (linked.trace.stated_module(call.at as usize), linked.frames().module.get(call.at as usize))
        {
            (Some(path), _) => &classes_of_path(&path),
            (None, Some(module)) => &*known.entry(module).or_insert_with(|| of_call(module)),
            (None, None) => continue,
        };
        for class in around {
            let of_class = classes.entry(class.clone()).or_insert_with(|| ModuleFlops::new(class));
            add_ns(&mut of_class.total_ns, call.ns);
            if let Some(row) = call.row {
                of_class.sum.add(rows.work(row), call.ns, peaks);
            }
        }
    }
    let mut rows: Vec<_> = classes.into_values().collect();
    sort::by(&mut rows, |a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.class.cmp(&b.class)));
    rows
}

/// The most modules of a path.
const MAX_DEPTH: usize = 64;

/// Classes in a path of modules with their numbers, as a capture tells it. Names of attributes,
/// such as `model.layers.0`, tell no class.
fn classes_of_path(path: &str) -> BTreeSet<String> {
    let parts = path.split('.').take(MAX_DEPTH);
    parts.filter(|part| class_of(part) != *part).map(|part| class_of(part).to_owned()).collect()
}
