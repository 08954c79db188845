//! Sums time by stack of Python frames, for flame graphs.

use super::analysis::{Analysis, Run};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use super::stack::FrameStacks;
use crate::sort;
use crate::table::{Column, Table, int, put_name, text};
use crate::time::add_ns;
use crate::trace::kind::EventKind;

/// Python frames with their costs.
pub(super) static STACKS: Analysis = Analysis {
    name: "stacks",
    doc: "host and device time per Python call stack, in folded form for flame graphs",
    options: &[OptionDoc {
        name: "depth",
        doc: "number of innermost Python frames that distinguish stacks",
        kind: OptionKind::Count(DEPTH),
    }],
    run: Run::Trace(|selection, options: &Options| {
        let depth = options.count("depth").min(DEPTH) as usize;
        AnalysisResult::of(
            &TABLE,
            stacks(selection, depth),
            "no Python frame was recorded (with_stack=True records them)",
        )
        .drawn(Plot::Bars { label: "frame", parts: &["self_ns"] })
    }),
};

/// Maximum number of distinct frames.
const DEPTH: i64 = 256;

/// The time in one stack of Python frames, less that in longer ones that begin with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackRow {
    /// The frames, the outermost first, with a semicolon between.
    pub stack: String,
    /// The innermost frame.
    pub frame: String,
    /// How often it was entered.
    pub count: u64,
    /// Host time in its innermost frame and in no frame inside that.
    pub self_ns: i64,
    /// Device time of the work launched meanwhile.
    pub device_self_ns: i64,
}

static TABLE: Table<Vec<StackRow>> =
    Table { name: "stacks", doc: "the time in one Python call stack", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<StackRow>>] = &[
    text("stack", |rows, at, out| put_name(out, &rows[at].stack)),
    text("frame", |rows, at, out| put_name(out, &rows[at].frame)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("self_ns", |rows, at| Some(rows[at].self_ns)),
    int("device_self_ns", |rows, at| Some(rows[at].device_self_ns)),
];

/// Time by stack of Python frames (`python_function`), the most device time first, then the most
/// host time.
///
/// `self_ns = Σ self time` of the frame's calls and of the operators and launches inside them that
/// no inner frame has; `device_self_ns = Σ dur` of the device work whose launch has the frame as
/// its innermost.
pub fn stacks(selection: &Selection<'_>, depth: usize) -> Vec<StackRow> {
    let (linked, trace) = (selection.linked, &selection.linked.trace);
    let (frames, self_ns) = (linked.frames(), selection.self_ns());
    let mut stacks = FrameStacks::new(linked, depth);
    let mut rows: Vec<Option<StackRow>> = Vec::new();
    for row in selection.rows() {
        let is_frame = trace.events.kind[row] == EventKind::Python;
        let frame = if is_frame { Some(row as u32) } else { frames.frame.get(row) };
        let Some(frame) = frame else { continue };
        let number = stacks.of_frame(frame);
        rows.resize(rows.len().max(number as usize + 1), None);
        let of_stack = rows[number as usize].get_or_insert_default();
        if is_frame {
            of_stack.count += 1;
        }
        if trace.events.kind[row].is_device_work() {
            add_ns(&mut of_stack.device_self_ns, selection.dur_ns(row));
        } else if !trace.is_on_device(row) {
            add_ns(&mut of_stack.self_ns, self_ns[row]);
        }
    }
    let named = |(number, row): (u32, Option<StackRow>)| {
        Some(StackRow { stack: stacks.text(number, ";"), frame: stacks.innermost(number).to_owned(), ..row? })
    };
    let mut rows: Vec<_> = (0..).zip(rows).filter_map(named).collect();
    sort::by_key(&mut rows, |row| std::cmp::Reverse((row.device_self_ns, row.self_ns)));
    rows
}
