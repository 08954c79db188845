//! Sums host and device time of operators by name, shape or calling Python code.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::analysis::{Analysis, Run};
use super::attribution;
use super::captured_work::{CapturedWork, captured_work};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use super::stack::FrameStacks;
use crate::id::TemplateId;
use crate::sort;
use crate::table::{Column, Table, int, json, put, put_name, text};
use crate::time::add_ns;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// Operators with their costs.
pub(super) static OPERATORS: Analysis = Analysis {
    name: "operators",
    doc: "self and total time of operators on host and device, grouped by name, shapes or Python stack",
    options: &[
        OptionDoc {
            name: "by",
            doc: "grouping key besides the name",
            kind: OptionKind::Choice(&["name", "shape", "stack"]),
        },
        OptionDoc {
            name: "stack_depth",
            doc: "number of innermost Python frames that distinguish stacks",
            kind: OptionKind::Count(5),
        },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let by = options.choice("by");
        let mut rows = match by {
            "shape" => by_shape(selection),
            "stack" => by_stack(selection, options.count("stack_depth") as usize),
            _ => by_name(selection).into_iter().map(OperatorCalls::from).collect(),
        };
        add_captured(selection, &mut rows, by == "shape");
        let has_device = rows.iter().any(|calls| calls.all.device_self_ns > Some(0));
        AnalysisResult::of(&TABLE, rows, "no operator was recorded")
            .and(&attribution::TABLE, attribution::attribution(selection))
            .drawn(Plot::of_own_time("name", has_device))
    }),
};

/// All calls of one operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct OperatorRow {
    /// Its name.
    pub name: String,
    /// How often it was called.
    pub count: u64,
    /// Host time of all calls together; a call inside another one of the group counts once.
    pub total_ns: i64,
    /// Mean duration of a call, rounded down.
    #[serde(skip)]
    pub mean_ns: i64,
    /// The part of it that no event inside the calls has.
    pub self_ns: i64,
    /// Device time of the work that the calls and all calls inside them launched, each once; `None`
    /// where all of it was lost.
    pub device_total_ns: Option<i64>,
    /// Device time of the work that the calls launched themselves; `None` likewise.
    pub device_self_ns: Option<i64>,
    /// Id of the longest call.
    pub longest_id: u32,
}

/// Calls of one operator that have something in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct OperatorCalls {
    all: OperatorRow,
    shapes: String,
    types: String,
    stack: String,
}

impl From<OperatorRow> for OperatorCalls {
    fn from(all: OperatorRow) -> Self {
        Self { all, ..Self::default() }
    }
}

pub(crate) static TABLE: Table<Vec<OperatorCalls>> =
    Table { name: "operators", doc: "all calls of one operator", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<OperatorCalls>>] = &[
    text("name", |rows, at, out| put_name(out, &rows[at].all.name)),
    json("input_shapes", |rows, at, out| put(out, &rows[at].shapes)),
    json("input_types", |rows, at, out| put(out, &rows[at].types)),
    text("stack", |rows, at, out| put(out, &rows[at].stack)),
    int("count", |rows, at| Some(rows[at].all.count as i64)),
    int("total_ns", |rows, at| Some(rows[at].all.total_ns)),
    int("self_ns", |rows, at| Some(rows[at].all.self_ns)),
    int("mean_ns", |rows, at| Some(rows[at].all.mean_ns)),
    int("device_total_ns", |rows, at| rows[at].all.device_total_ns),
    int("device_self_ns", |rows, at| rows[at].all.device_self_ns),
    int("longest_id", |rows, at| Some(i64::from(rows[at].all.longest_id))),
];

/// Operators by name: the most device time of their own first, then the most host time of their
/// own.
///
/// `total_ns = Σ dur` over the calls that overlap the selection, cut to it, without calls inside
/// another one of the same name (`aten::arange` in `aten::arange`); `count` has them. `self_ns = Σ
/// (dur − Σ dur of children)`; `mean_ns = Σ dur / count` over all calls. Device times are those of
/// whole calls. The selected work of replayed graphs counts for the operators that captured it.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{Selection, operators};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 2, "ts": 0, "dur": 9},
///                 {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 2, "ts": 2, "dur": 5}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let rows = operators(&Selection::all(&linked));
/// assert_eq!((rows[1].name.as_str(), rows[1].total_ns, rows[1].self_ns), ("aten::linear", 9_000, 4_000));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn operators(selection: &Selection<'_>) -> Vec<OperatorRow> {
    let mut rows: Vec<_> = by_name(selection).into_iter().map(OperatorCalls::from).collect();
    add_captured(selection, &mut rows, false);
    rows.into_iter().map(|calls| calls.all).collect()
}

/// Adds the work of graphs to the operators that captured it, which need not be selected: those
/// have no calls then.
fn add_captured(selection: &Selection<'_>, rows: &mut Vec<OperatorCalls>, is_by_shape: bool) {
    let found = captured_work(selection, is_by_shape);
    if found.is_empty() {
        return;
    }
    let mut places: FxHashMap<(String, String, String), usize> = FxHashMap::default();
    for (place, calls) in rows.iter().enumerate() {
        places.entry((calls.all.name.clone(), calls.shapes.clone(), calls.types.clone())).or_insert(place);
    }
    for CapturedWork { name, shapes, types, ns, longest } in found {
        let place = *places.entry((name, shapes, types)).or_insert_with_key(|(name, shapes, types)| {
            let all = OperatorRow { name: name.clone(), longest_id: longest.0, ..OperatorRow::default() };
            rows.push(OperatorCalls { all, shapes: shapes.clone(), types: types.clone(), ..OperatorCalls::default() });
            rows.len() - 1
        });
        let all = &mut rows[place].all;
        add_ns(all.device_self_ns.get_or_insert(0), ns);
        add_ns(all.device_total_ns.get_or_insert(0), ns);
    }
    sort::by(rows, |a, b| most_first(&a.all, &b.all));
}

/// The most device time of their own first, then the most host time of their own. Unknown device
/// time counts as none: behind all others, the longest calls would be out of sight.
fn most_first(a: &OperatorRow, b: &OperatorRow) -> std::cmp::Ordering {
    let time = |row: &OperatorRow| (row.device_self_ns.unwrap_or(0), row.self_ns);
    time(b).cmp(&time(a)).then_with(|| (&a.name, a.longest_id).cmp(&(&b.name, b.longest_id)))
}

fn by_name(selection: &Selection<'_>) -> Vec<OperatorRow> {
    let names = &selection.linked.trace.events.name;
    grouped(selection, |row| names.at(row)).into_iter().map(|(_, row)| row).collect()
}

/// The sums of a group of calls while they grow.
#[derive(Default)]
struct OperatorSums {
    row: OperatorRow,
    sum_ns: i64,
    longest_ns: i64,
    device_total_ns: i64,
    device_self_ns: i64,
    /// Whether work inside a call was lost, and work of the calls themselves.
    lacks_total: bool,
    lacks_self: bool,
}

impl OperatorSums {
    fn finish(self) -> OperatorRow {
        let known = |ns: i64, lacks: bool| Some(ns).filter(|ns| *ns > 0 || !lacks);
        let device_total_ns = known(self.device_total_ns, self.lacks_total);
        let mean_ns = self.sum_ns / (self.row.count as i64).max(1);
        OperatorRow {
            mean_ns,
            device_total_ns,
            device_self_ns: known(self.device_self_ns, self.lacks_self),
            ..self.row
        }
    }
}

/// Calls with equal keys together, each group with one of its keys.
fn grouped<K: Hash + Eq + Copy>(selection: &Selection<'_>, mut key: impl FnMut(usize) -> K) -> Vec<(K, OperatorRow)> {
    let linked = selection.linked;
    let (events, device) = (&linked.trace.events, linked.device_time());
    let self_ns = selection.self_ns();
    let lost = linked.lost_work();
    let mut groups: FxHashMap<K, OperatorSums> = FxHashMap::default();
    let mut keys: Vec<Option<K>> = vec![None; events.len()];
    for row in selection.rows().filter(|row| events.kind[*row] == EventKind::Operator) {
        keys[row] = Some(key(row));
    }
    let is_inside = linked.links.nesting.inside_same(&keys);
    for (row, key) in keys.into_iter().enumerate().filter_map(|(row, key)| Some((row, key?))) {
        let new = || OperatorRow { name: linked.trace.event_name(row).to_owned(), ..OperatorRow::default() };
        let sums = groups.entry(key).or_insert_with(|| OperatorSums { row: new(), ..OperatorSums::default() });
        let group = &mut sums.row;
        let dur = selection.dur_ns(row);
        group.count += 1;
        add_ns(&mut sums.sum_ns, dur);
        add_ns(&mut group.self_ns, self_ns[row]);
        if group.count == 1 || dur > sums.longest_ns {
            sums.longest_ns = dur;
            group.longest_id = events.position.at(row);
        }
        if !is_inside[row] {
            add_ns(&mut group.total_ns, dur);
            add_ns(&mut sums.device_total_ns, device.total_ns[row]);
        }
        add_ns(&mut sums.device_self_ns, device.self_ns[row]);
        sums.lacks_total |= lost.is_inside(&linked.trace, row);
        sums.lacks_self |= lost.is_of(row);
    }
    let mut rows: Vec<_> = groups.into_iter().map(|(key, sums)| (key, sums.finish())).collect();
    sort::by(&mut rows, |(_, a), (_, b)| most_first(a, b));
    rows
}

/// Calls of one operator with inputs of the same dimensions and types (`Input Dims`, `Input type`).
fn by_shape(selection: &Selection<'_>) -> Vec<OperatorCalls> {
    let trace = &selection.linked.trace;
    let mut known: FxHashMap<TemplateId, u32> = FxHashMap::default();
    let mut numbers: FxHashMap<(String, String), u32> = FxHashMap::default();
    let groups = grouped(selection, |row| {
        // Calls of one template have the same texts.
        let number = *known.entry(trace.events.template.at(row)).or_insert_with(|| {
            let text = |key| {
                let mut text = String::new();
                trace.args.write_text(&trace.strings, trace.events.args(row), key, &mut text);
                text
            };
            let next = numbers.len() as u32;
            *numbers.entry((text(ArgKey::InputShapes), text(ArgKey::InputTypes))).or_insert(next)
        });
        (trace.events.name.at(row), number)
    });
    let mut texts = vec![<_>::default(); numbers.len()];
    numbers.into_iter().for_each(|(text, number)| texts[number as usize] = text);
    let calls = |((_, number), all): ((_, u32), OperatorRow)| {
        let (shapes, types) = texts[number as usize].clone();
        OperatorCalls { all, shapes, types, ..OperatorCalls::default() }
    };
    groups.into_iter().map(calls).collect()
}

/// Calls of one operator from the same Python frames.
fn by_stack(selection: &Selection<'_>, depth: usize) -> Vec<OperatorCalls> {
    let linked = selection.linked;
    let mut stacks = FrameStacks::new(linked, depth);
    let groups = grouped(selection, |row| (linked.trace.events.name.at(row), stacks.of(row)));
    let texts = stacks.into_texts();
    let calls = |((_, stack), all): ((_, u32), OperatorRow)| OperatorCalls {
        all,
        stack: texts.text(stack, "\n"),
        ..OperatorCalls::default()
    };
    groups.into_iter().map(calls).collect()
}
