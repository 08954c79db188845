//! Groups calls of equal shapes, with their position below the roof.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cost::{OperatorCost, OperatorFamily};
use super::outcome::{COMMUNICATION, CostOutcome};
use super::work::{OperatorName, TimedCall};
use crate::analyze::class::{WorkClass, classes};
use crate::analyze::device::Peaks;
use crate::analyze::device::Precision;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Column, Table, float, int, json, put, put_name, text};
use crate::time::{add_ns, sum_ns};

/// Calls of one operator with equal shapes, types and costs.
#[derive(Debug, Clone)]
pub(crate) struct RooflineRow {
    name: String,
    shapes: Arc<str>,
    work: CallWork,
    count: i64,
    total_ns: i64,
    min_ns: i64,
    max_ns: i64,
    longest_id: u32,
    roof: RooflineBound,
}

/// The work of each call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CallWork {
    pub family: OperatorFamily,
    pub cost: OperatorCost,
    pub precision: Option<Precision>,
}

/// The limit of the device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RooflineBound {
    peak_tflops: Option<f64>,
    /// The shortest time that a call can take.
    roofline_ns: Option<f64>,
    bound: &'static str,
}

/// Calls that have no cost, by operator and reason.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnmodelledRow {
    name: String,
    reason: &'static str,
    count: i64,
    total_ns: i64,
}

pub(crate) static TABLE: Table<Vec<RooflineRow>> = Table {
    name: "roofline",
    doc: "all calls of one operator with equal shapes, compared with the device peaks",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<RooflineRow>>] = &[
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    json("input_shapes", |rows, at, out| put(out, &rows[at].shapes)),
    text("dtype", |rows, at, out| put_name(out, rows[at].work.dtype_name())),
    text("family", |rows, at, out| put_name(out, rows[at].work.family.name())),
    int("count", |rows, at| Some(rows[at].count)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("mean_ns", |rows, at| Some(rows[at].total_ns / rows[at].count.max(1))),
    int("min_ns", |rows, at| Some(rows[at].min_ns)),
    int("max_ns", |rows, at| Some(rows[at].max_ns)),
    int("flops", |rows, at| rows[at].work.flops()),
    int("bytes", |rows, at| Some(rows[at].work.cost.bytes)),
    float("intensity", |rows, at| ratio(rows[at].work.flops()? as f64, rows[at].work.cost.bytes as f64)),
    float("tflops", |rows, at| rows[at].per_ns(rows[at].work.flops()?).map(|flops| flops / 1e3)),
    float("gbps", |rows, at| rows[at].per_ns(rows[at].work.cost.bytes)),
    text("bound", |rows, at, out| put(out, rows[at].roof.bound)),
    float("peak_tflops", |rows, at| rows[at].roof.peak_tflops),
    float("roofline_ns", |rows, at| rows[at].roof.roofline_ns),
    float("roof_tflops", |rows, at| rows[at].roof.tflops(rows[at].work.flops()?)),
    float("share_of_peak", |rows, at| {
        let row = &rows[at];
        ratio(row.roof.roofline_ns? * row.count as f64, row.total_ns as f64)
    }),
    int("longest_id", |rows, at| Some(i64::from(rows[at].longest_id))),
];

pub(crate) static UNMODELLED: Table<Vec<UnmodelledRow>> = Table {
    name: "roofline_unmodelled",
    doc: "all calls of one operator whose operations and bytes are unknown for one reason",
    num_rows: Vec::len,
    columns: &[
        text("name", |rows, at, out| put_name(out, &rows[at].name)),
        text("reason", |rows, at, out| put_name(out, rows[at].reason)),
        int("count", |rows, at| Some(rows[at].count)),
        int("total_ns", |rows, at| Some(rows[at].total_ns)),
    ],
};

impl RooflineRow {
    /// So much a call, by nanosecond of all calls.
    fn per_ns(&self, each: i64) -> Option<f64> {
        ratio(each as f64 * self.count as f64, self.total_ns as f64)
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then_some(part / whole)
}

impl RooflineBound {
    /// The limit for a call with so many operations.
    fn tflops(&self, flops: i64) -> Option<f64> {
        ratio(flops as f64 / 1e3, self.roofline_ns?)
    }
}

impl CallWork {
    /// Operations of a call; `None` where they are unknown.
    pub(super) fn flops(&self) -> Option<i64> {
        (self.family != OperatorFamily::FusedOfUnknownOperations).then_some(self.cost.flops)
    }

    fn dtype_name(&self) -> &'static str {
        if self.precision == Some(Precision::Tf32) { "tf32" } else { self.cost.dtype.name }
    }

    /// The time limit of the device: the longer of the times for operations and for bytes.
    pub(super) fn roof(&self, peaks: Option<&Peaks>) -> RooflineBound {
        let Some(peaks) = peaks else { return RooflineBound::default() };
        let of = |is_of_matrices| peaks.tflops(self.precision?, is_of_matrices);
        let is_of_matrices = self.family.is_of_matrices();
        let peak_tflops = of(is_of_matrices).or_else(|| of(false));
        let compute_ns = peak_tflops.map_or(0.0, |tflops| self.cost.flops as f64 / (tflops * 1e3));
        let memory_ns = self.cost.bytes as f64 / peaks.bandwidth_gbps;
        let bound = match self.flops() {
            None => "",
            Some(_) if compute_ns > memory_ns => "compute",
            Some(_) => "memory",
        };
        RooflineBound { peak_tflops, roofline_ns: Some(compute_ns.max(memory_ns)), bound }
    }

    /// The time for the operations at the peak, in nanoseconds; none where the peak is unknown.
    pub(super) fn compute_ns(&self, peaks: Option<&Peaks>) -> Option<f64> {
        self.roof(peaks).peak_tflops.map(|tflops| self.cost.flops as f64 / (tflops * 1e3))
    }
}

/// A call that computes or moves data.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedCall {
    /// Row of an event in its iteration and module.
    pub at: u32,
    pub iteration: Option<u32>,
    /// The place of its row, if its cost is known.
    pub row: Option<usize>,
    pub ns: i64,
}

/// Calls grouped by equal keys.
#[derive(Debug, Default)]
pub(super) struct RooflineRows {
    known: FxHashMap<(OperatorName, Arc<str>, bool), Vec<usize>>,
    modelled: Vec<RooflineRow>,
    unmodelled: BTreeMap<(String, &'static str), UnmodelledRow>,
    /// All calls that compute or move data.
    pub calls: Vec<CountedCall>,
    /// Time of computation that has no row, by iteration.
    pub missed_ns: FxHashMap<Option<u32>, i64>,
}

impl RooflineRows {
    pub(super) fn add(&mut self, linked: &LinkedTrace, call: TimedCall, outcome: CostOutcome) {
        let (row, at_row) = (call.row as usize, call.at as usize);
        match outcome {
            CostOutcome::Unmodelled(reason) => {
                self.add_unmodelled(&call.name.text(&linked.trace), reason, 1, call.ns);
                if reason != COMMUNICATION {
                    self.miss(linked, at_row, call.ns);
                    self.count(linked, call, None);
                }
            }
            CostOutcome::Modelled(family, cost, shapes) => {
                let is_tf32 = call.is_tf32 && cost.dtype.precision == Some(Precision::Float32);
                let precision = if is_tf32 { Some(Precision::Tf32) } else { cost.dtype.precision };
                let at = self.place(linked, call.name, CallWork { family, cost, precision }, shapes);
                self.modelled[at].add(call, linked.trace.events.position.at(row));
                if self.modelled[at].work.flops().is_none() {
                    self.miss(linked, at_row, call.ns);
                }
                self.count(linked, call, Some(at));
            }
        }
    }

    fn count(&mut self, linked: &LinkedTrace, call: TimedCall, row: Option<usize>) {
        let iteration = linked.links.iteration.get(call.at as usize);
        self.calls.push(CountedCall { at: call.at, iteration, row, ns: call.ns });
    }

    /// Adds work that belongs to no operator.
    pub(super) fn add_unlinked(&mut self, linked: &LinkedTrace, work: &[(u32, i64)]) {
        if work.is_empty() {
            return;
        }
        let ns = sum_ns(work.iter().map(|(_, ns)| *ns));
        self.add_unmodelled("unlinked", "operator is unknown", work.len() as i64, ns);
        let classes = classes(linked);
        for (row, ns) in work.iter().filter(|(row, _)| classes[*row as usize] == WorkClass::Computation) {
            self.miss(linked, *row as usize, *ns);
        }
    }

    /// Adds time of computation that has no row to its iteration.
    fn miss(&mut self, linked: &LinkedTrace, row: usize, ns: i64) {
        add_ns(self.missed_ns.entry(linked.links.iteration.get(row)).or_default(), ns);
    }

    fn add_unmodelled(&mut self, name: &str, reason: &'static str, count: i64, ns: i64) {
        let new = || UnmodelledRow { name: name.to_owned(), reason, ..UnmodelledRow::default() };
        let row = self.unmodelled.entry((name.to_owned(), reason)).or_insert_with(new);
        row.count = row.count.saturating_add(count);
        add_ns(&mut row.total_ns, ns);
    }

    /// The place of the row of calls that do the same.
    fn place(&mut self, linked: &LinkedTrace, name: OperatorName, work: CallWork, shapes: Arc<str>) -> usize {
        let is_tf32 = work.precision == Some(Precision::Tf32);
        let alike = self.known.entry((name, shapes.clone(), is_tf32)).or_default();
        if let Some(at) = alike.iter().copied().find(|at| self.modelled[*at].work == work) {
            return at;
        }
        let at = self.modelled.len();
        alike.push(at);
        let name = name.text(&linked.trace).into_owned();
        let (roof, min_ns, max_ns) = (RooflineBound::default(), i64::MAX, i64::MIN);
        self.modelled.push(RooflineRow {
            name,
            shapes,
            work,
            count: 0,
            total_ns: 0,
            min_ns,
            max_ns,
            longest_id: 0,
            roof,
        });
        at
    }

    /// The work of each call of a row.
    pub(super) fn work(&self, at: usize) -> &CallWork {
        &self.modelled[at].work
    }

    /// The rows, those of the most time first.
    pub(super) fn into_tables(self, peaks: Option<&Peaks>) -> (Vec<RooflineRow>, Vec<UnmodelledRow>) {
        let (mut rows, mut unmodelled) = (self.modelled, self.unmodelled.into_values().collect::<Vec<_>>());
        rows.iter_mut().for_each(|row| row.roof = row.work.roof(peaks));
        sort::by(&mut rows, |a, b| {
            b.total_ns.cmp(&a.total_ns).then_with(|| (&a.name, a.longest_id).cmp(&(&b.name, b.longest_id)))
        });
        sort::by_key(&mut unmodelled, |row| std::cmp::Reverse(row.total_ns));
        (rows, unmodelled)
    }
}

impl RooflineRow {
    fn add(&mut self, call: TimedCall, id: u32) {
        self.count += 1;
        add_ns(&mut self.total_ns, call.ns);
        self.min_ns = self.min_ns.min(call.ns);
        if call.ns > self.max_ns {
            (self.max_ns, self.longest_id) = (call.ns, id);
        }
    }
}
