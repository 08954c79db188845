//! Counts the kinds of data that each trace recorded: only kinds in both traces are compared.

use rustc_hash::FxHashMap;

use super::side::{DiffSide, LostLaunches};
use crate::analyze::class::{WorkClass, classes};
use crate::id::TemplateId;
use crate::link::{LinkedTrace, MODULE_PREFIX};
use crate::table::{Column, Table, boolean, int, put, put_name, text};
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// Number of records of each kind in one trace, whatever part of it is selected.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecordedCounts {
    pub(super) operators: u64,
    kernels: u64,
    copies: u64,
    communications: u64,
    shapes: u64,
    frames: u64,
    modules: u64,
    memory: u64,
    pub(super) iterations: u64,
    nodes: u64,
}

/// Kinds that both traces recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a kind of its own")]
pub(super) struct ComparedKinds {
    pub(super) operators: bool,
    pub(super) device: bool,
    pub(super) shapes: bool,
    pub(super) modules: bool,
    pub(super) iterations: bool,
    nodes: bool,
}

/// A kind of data in both traces.
pub(crate) struct RecordedKind {
    kind: &'static str,
    counts: [u64; 2],
    is_compared: bool,
    reason: &'static str,
}

pub(crate) static TABLE: Table<Vec<RecordedKind>> = Table {
    name: "diff_recorded",
    doc: "a kind of data: its records in each trace, and whether it is compared",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<RecordedKind>>] = &[
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    int("before_count", |rows, at| Some(rows[at].counts[0] as i64)),
    int("after_count", |rows, at| Some(rows[at].counts[1] as i64)),
    boolean("is_compared", |rows, at| Some(rows[at].is_compared)),
    text("reason", |rows, at, out| put(out, rows[at].reason)),
];

impl RecordedCounts {
    pub(super) fn of(linked: &LinkedTrace) -> Self {
        let (trace, classes) = (&linked.trace, classes(linked));
        let mut counts = Self {
            iterations: linked.links.iterations.len() as u64,
            nodes: trace.nodes.len() as u64,
            memory: trace.instants.iter().filter(|mark| trace.strings.text(mark.name) == MEMORY).count() as u64,
            ..Self::default()
        };
        let mut has_shapes: FxHashMap<TemplateId, bool> = FxHashMap::default();
        for (row, class) in classes.iter().enumerate() {
            match trace.events.kind[row] {
                EventKind::Operator => {
                    counts.operators += 1;
                    let template = trace.events.template.at(row);
                    let has_shape = has_shapes.entry(template).or_insert_with(|| has_shapes_of(linked, row));
                    counts.shapes += u64::from(*has_shape);
                    counts.communications += u64::from(is_communication(trace.event_name(row)));
                }
                EventKind::Kernel => {
                    counts.kernels += 1;
                    counts.communications += u64::from(*class == WorkClass::Communication);
                }
                kind if kind.is_device_work() => counts.copies += 1,
                EventKind::Python => {
                    counts.frames += 1;
                    counts.modules += u64::from(trace.event_name(row).starts_with(MODULE_PREFIX));
                }
                _ => {}
            }
        }
        counts
    }

    pub(super) fn device_work(&self) -> u64 {
        self.kernels + self.copies
    }
}

impl RecordedKind {
    /// Why device work is not compared, if this is that kind.
    pub(super) fn device_reason(&self) -> Option<&'static str> {
        (self.kind == DEVICE_WORK && !self.is_compared).then_some(self.reason)
    }
}

const DEVICE_WORK: &str = "device work";
const KERNELS: &str = "kernels";
const COPIES: &str = "copies and fills";

/// Name of the allocator's records (`profile_memory`).
const MEMORY: &str = "[memory]";

fn is_communication(operator: &str) -> bool {
    operator.starts_with("c10d::") || operator == "record_param_comms"
}

fn has_shapes_of(linked: &LinkedTrace, row: usize) -> bool {
    let (trace, mut text) = (&linked.trace, String::new());
    trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::InputShapes, &mut text) && !text.is_empty()
}

impl ComparedKinds {
    pub(super) fn of([before, after]: &[RecordedCounts; 2], lost: &[LostLaunches; 2]) -> Self {
        let both = |count: fn(&RecordedCounts) -> u64| count(before) > 0 && count(after) > 0;
        // A recording of copies alone lacks its kernels if the other one has them.
        let is_one_sided = (before.kernels > 0) != (after.kernels > 0);
        Self {
            operators: both(|counts| counts.operators),
            device: both(RecordedCounts::device_work) && !is_one_sided && lost.iter().all(|lost| lost.is_little),
            shapes: both(|counts| counts.shapes),
            modules: both(|counts| counts.modules),
            iterations: both(|counts| counts.iterations),
            nodes: cfg!(feature = "python-reports") && both(|counts| counts.nodes),
        }
    }
}

/// All kinds, whether recorded or not.
pub(super) fn recorded(sides: &[DiffSide<'_>; 2]) -> Vec<RecordedKind> {
    let compared = sides[0].compared;
    let row = |kind, count: fn(&RecordedCounts) -> u64, is_compared: Option<bool>| {
        let counts = sides.each_ref().map(|side| count(&side.recorded));
        let reason = match counts.map(|count| count > 0) {
            _ if is_compared == Some(true) => "",
            [true, true] if is_compared.is_none() => NO_TABLE,
            [true, true] if sides.iter().any(|side| side.recorded.kernels == 0) => {
                "one of the traces recorded copies alone"
            }
            [true, true] => "one of the traces lost too much of it",
            [false, true] => "not recorded before",
            [true, false] => "not recorded after",
            [false, false] => "not recorded",
        };
        RecordedKind { kind, counts, is_compared: is_compared.unwrap_or(false), reason }
    };
    vec![
        row("operators", |counts| counts.operators, Some(compared.operators)),
        row(DEVICE_WORK, RecordedCounts::device_work, Some(compared.device)),
        row(KERNELS, |counts| counts.kernels, Some(compared.device && sides[0].recorded.kernels > 0)),
        row(COPIES, |counts| counts.copies, Some(compared.device)),
        // Without a communication, a trace of device work has spent no time in any.
        row("communication", |counts| counts.communications, Some(communicates(sides))),
        row("input shapes", |counts| counts.shapes, Some(compared.shapes)),
        row("Python frames", |counts| counts.frames, None),
        row("modules", |counts| counts.modules, Some(compared.modules)),
        row("iterations", |counts| counts.iterations, Some(compared.iterations)),
        row("memory events", |counts| counts.memory, None),
        row("Execution Trace nodes", |counts| counts.nodes, Some(compared.nodes)),
    ]
}

fn communicates(sides: &[DiffSide<'_>; 2]) -> bool {
    let has_any = |side: &DiffSide<'_>| side.recorded.communications > 0;
    sides.iter().all(has_any) || sides[0].compared.device && sides.iter().any(has_any)
}

/// Reason for a kind that no table of a comparison shows.
const NO_TABLE: &str = "no table compares it";

/// The kinds that one trace alone recorded, as a text; empty if there are none.
pub(super) fn not_compared(kinds: &[RecordedKind]) -> String {
    let is_one_sided = |row: &&RecordedKind| !row.is_compared && (row.counts[0] > 0) != (row.counts[1] > 0);
    let lacks_device = kinds.iter().any(|row| row.kind == DEVICE_WORK && is_one_sided(&row));
    let is_part = |row: &&RecordedKind| lacks_device && matches!(row.kind, KERNELS | COPIES);
    let names: Vec<_> = kinds
        .iter()
        .filter(|row| is_one_sided(row) && !is_part(row))
        .map(|row| format!("{} ({})", row.kind, row.reason))
        .collect();
    if names.is_empty() { String::new() } else { format!("not compared: {}", names.join(", ")) }
}
