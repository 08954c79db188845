//! Sums the operations of module classes, with their share of the device's peak.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

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
    flops: i64,
    bytes: i64,
    /// Time of all operators but those that communicate, and of those whose cost is known.
    total_ns: i64,
    counted_ns: i64,
    /// The time for all operations at their peaks; none where one of these is unknown.
    compute_ns: Option<f64>,
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
    int("flops", |rows, at| Some(rows[at].flops)),
    int("bytes", |rows, at| Some(rows[at].bytes)),
    float("tflops", |rows, at| rows[at].per_ns(rows[at].flops as f64 / 1e3)),
    float("share_of_peak", |rows, at| rows[at].per_ns(rows[at].compute_ns?)),
    float("covered_share", |rows, at| rows[at].per_ns(rows[at].counted_ns as f64)),
];

impl ModuleFlops {
    fn new(class: &str) -> Self {
        Self { class: class.to_owned(), flops: 0, bytes: 0, total_ns: 0, counted_ns: 0, compute_ns: Some(0.0) }
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
            let sum = classes.entry(class.clone()).or_insert_with(|| ModuleFlops::new(class));
            add_ns(&mut sum.total_ns, call.ns);
            let Some(work) = call.row.map(|row| rows.work(row)) else { continue };
            add_ns(&mut sum.counted_ns, call.ns);
            sum.flops = sum.flops.saturating_add(work.cost.flops);
            sum.bytes = sum.bytes.saturating_add(work.cost.bytes);
            if work.cost.flops > 0 && work.precision.is_some() {
                sum.compute_ns = sum.compute_ns.zip(work.compute_ns(peaks)).map(|(sum, ns)| sum + ns);
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
