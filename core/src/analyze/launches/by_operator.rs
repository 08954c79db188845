//! Sums launches by operator and by its sequence of kernels.

use rustc_hash::FxHashMap;

use super::row::LaunchRows;
use crate::column::OptionalColumn;
use crate::id::StrId;
use crate::sort;
use crate::table::{Table, float, int, json, put, put_name, text};
use crate::time::add_ns;
use crate::trace::kind::EventKind;

/// Calls of one operator that launched one sequence of kernels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OperatorLaunchRow {
    operator: String,
    kernels: String,
    count: u64,
    launch_ns: i64,
    kernel_ns: i64,
    first_id: u32,
}

impl OperatorLaunchRow {
    fn mean(&self, total_ns: i64) -> f64 {
        total_ns as f64 / self.count as f64
    }
}

pub(super) static TABLE: Table<Vec<OperatorLaunchRow>> = Table {
    name: "launches_by_operator",
    doc: "all calls of one operator that launched the same sequence of kernels",
    num_rows: Vec::len,
    columns: &[
        text("operator", |rows, at, out| put_name(out, &rows[at].operator)),
        int("count", |rows, at| Some(rows[at].count as i64)),
        float("mean_until_launch_ns", |rows, at| Some(rows[at].mean(rows[at].launch_ns))),
        float("mean_until_kernel_ns", |rows, at| Some(rows[at].mean(rows[at].kernel_ns))),
        json("kernels", |rows, at, out| put(out, &rows[at].kernels)),
        int("first_id", |rows, at| Some(i64::from(rows[at].first_id))),
    ],
};

/// Kernels that calls of operators launched, by the innermost operator around the launch whose name
/// begins with a text; the most frequent first.
///
/// Of a call's first launch: `mean_until_launch_ns` is from the start of the operator to that of
/// the launch, `mean_until_kernel_ns` from there to that of the kernel, over all calls with the
/// same kernels in the order of the launches' ids.
pub(super) fn by_operator(launches: &LaunchRows, prefix: &str) -> Vec<OperatorLaunchRow> {
    let (trace, events) = (&launches.linked.trace, &launches.linked.trace.events);
    let operators = operators(launches, prefix);
    let kernels = launches.rows.iter().filter(|row| events.kind[row.device as usize] == EventKind::Kernel);
    let call = |row: &super::LaunchRow| Some((operators.get(row.launch as usize)?, row.launch, row.device));
    let mut calls: Vec<_> = kernels.filter_map(call).collect();
    sort::ascending(&mut calls);
    let mut groups: FxHashMap<(StrId, Vec<StrId>), OperatorLaunchRow> = FxHashMap::default();
    for of_call in calls.chunk_by(|a, b| a.0 == b.0) {
        let (operator, launch, kernel) = of_call[0];
        let names = of_call.iter().map(|(.., kernel)| events.name.at(*kernel as usize)).collect();
        let new =
            || OperatorLaunchRow { first_id: events.position.at(operator as usize), ..OperatorLaunchRow::default() };
        let group = groups.entry((events.name.at(operator as usize), names)).or_insert_with(new);
        group.count += 1;
        add_ns(&mut group.launch_ns, launches.start_ns(launch).saturating_sub(launches.start_ns(operator)));
        add_ns(&mut group.kernel_ns, launches.start_ns(kernel).saturating_sub(launches.start_ns(launch)));
    }
    let named = |((operator, kernels), row): ((StrId, Vec<StrId>), OperatorLaunchRow)| {
        let kernels: Vec<_> = kernels.into_iter().map(|name| trace.strings.text(name)).collect();
        let operator = trace.strings.text(operator).to_owned();
        OperatorLaunchRow { operator, kernels: serde_json::json!(kernels).to_string(), ..row }
    };
    let mut rows: Vec<_> = groups.into_iter().map(named).collect();
    sort::by_key(&mut rows, |row| (std::cmp::Reverse(row.count), row.first_id));
    rows
}

/// For each event, the innermost operator around it with a name that begins with a text.
fn operators(launches: &LaunchRows, prefix: &str) -> OptionalColumn {
    let trace = &launches.linked.trace;
    let begins: Vec<bool> = trace.strings.iter().map(|text| text.starts_with(prefix)).collect();
    let is_it = |row: usize| trace.events.kind[row] == EventKind::Operator && begins[trace.events.name.at(row).index()];
    launches.linked.links.nesting.innermost(is_it)
}
