//! Finds repeated sequences of kernels under an operator.

use rustc_hash::FxHashMap;

use super::analysis::{Analysis, Run};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::column::OptionalColumn;
use crate::id::StrId;
use crate::sort;
use crate::table::{Column, Table, int, json, put, put_name, text};
use crate::time::add_ns;
use crate::trace::kind::EventKind;

/// Sequences of kernels.
pub(super) static SEQUENCES: Analysis = Analysis {
    name: "sequences",
    doc: "repeated sequences of kernels that operators launch, by number of occurrences",
    options: &[
        OptionDoc {
            name: "operator",
            doc: "text in names of outermost operators; selects the sequences below them",
            kind: OptionKind::Text,
        },
        OptionDoc {
            name: "min_length",
            doc: "minimum number of kernels, copies and fills per sequence",
            kind: OptionKind::Count(3),
        },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let rows = sequences(selection, options.text("operator").unwrap_or(""), options.count("min_length"));
        AnalysisResult::of(&TABLE, rows, "no matching operator launched that many kernels")
            .drawn(Plot::Bars { label: "operator", parts: &["device_total_ns"] })
    }),
};

/// One operator with one sequence of device work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceRow {
    /// The operator's name.
    pub operator: String,
    /// The names of the kernels, copies and fills in the order of their starts, as a JSON list.
    pub kernels: String,
    /// How many they are.
    pub length: u64,
    /// How many calls have just these.
    pub count: u64,
    /// Host time of these calls.
    pub total_ns: i64,
    /// Device time of them, summed.
    pub device_total_ns: i64,
    /// Id of the first of these calls.
    pub first_id: u32,
}

static TABLE: Table<Vec<SequenceRow>> = Table {
    name: "sequences",
    doc: "one operator with one sequence of device work",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<SequenceRow>>] = &[
    text("operator", |rows, at, out| put_name(out, &rows[at].operator)),
    int("length", |rows, at| Some(rows[at].length as i64)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("device_total_ns", |rows, at| Some(rows[at].device_total_ns)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    json("kernels", |rows, at, out| put(out, &rows[at].kernels)),
    int("first_id", |rows, at| Some(i64::from(rows[at].first_id))),
];

/// Calls of operators by their name and the sequence of device work that they and all inside them
/// launched; the most device time first.
///
/// A call counts when its operator's name holds `operator` and no such call is around it; only
/// sequences of at least `min_length` events of the selection.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{Selection, sequences};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[
///     {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 0, "dur": 9},
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3, "args": {"correlation": 7}},
///     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6, "dur": 4, "args": {"correlation": 7}}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let rows = sequences(&Selection::all(&linked), "linear", 1);
/// assert_eq!((rows[0].kernels.as_str(), rows[0].count), (r#"["gemm"]"#, 1));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn sequences(selection: &Selection<'_>, operator: &str, min_length: i64) -> Vec<SequenceRow> {
    let (trace, links) = (&selection.linked.trace, &selection.linked.links);
    let events = &trace.events;
    let calls = outermost(selection, operator);
    let mut work: Vec<_> = selection
        .device_work()
        .filter_map(|row| {
            let owner = links.launch.get(row).or_else(|| links.operator.get(row))?;
            Some((calls.get(owner as usize)?, events.start.at(row), row as u32))
        })
        .collect();
    sort::ascending(&mut work);
    let mut groups: FxHashMap<(StrId, Vec<StrId>), SequenceRow> = FxHashMap::default();
    for of_call in work.chunk_by(|a, b| a.0 == b.0) {
        if (of_call.len() as i64) < min_length {
            continue;
        }
        let call = of_call[0].0 as usize;
        let names = of_call.iter().map(|(.., row)| events.name.at(*row as usize)).collect();
        let group = groups.entry((events.name.at(call), names)).or_insert_with_key(|(operator, names)| SequenceRow {
            operator: trace.strings.text(*operator).to_owned(),
            kernels: serde_json::json!(names.iter().map(|name| trace.strings.text(*name)).collect::<Vec<_>>())
                .to_string(),
            length: of_call.len() as u64,
            count: 0,
            total_ns: 0,
            device_total_ns: 0,
            first_id: events.position.at(call),
        });
        group.count += 1;
        add_ns(&mut group.total_ns, events.dur.at(call).0);
        of_call.iter().for_each(|(.., row)| add_ns(&mut group.device_total_ns, selection.dur_ns(*row as usize)));
        group.first_id = group.first_id.min(events.position.at(call));
    }
    let mut rows: Vec<_> = groups.into_values().collect();
    sort::by_key(&mut rows, |row| (std::cmp::Reverse(row.device_total_ns), row.first_id));
    rows
}

/// For each event, the outermost operator with a text in its name: around it, or itself.
fn outermost(selection: &Selection<'_>, operator: &str) -> OptionalColumn {
    let (trace, nesting) = (&selection.linked.trace, &selection.linked.links.nesting);
    let mut found = OptionalColumn::empty(trace.events.len());
    let mut known: FxHashMap<StrId, bool> = FxHashMap::default();
    // Parents come before their children in this order.
    for row in &nesting.order {
        let at = *row as usize;
        let inherited = nesting.parent.get(at).and_then(|parent| found.get(parent as usize));
        let mut is_it = || {
            let is_named = || trace.event_name(at).contains(operator);
            trace.events.kind[at] == EventKind::Operator
                && *known.entry(trace.events.name.at(at)).or_insert_with(is_named)
        };
        if let Some(call) = inherited.or_else(|| is_it().then_some(*row)) {
            found.set(at, call);
        }
    }
    found
}
