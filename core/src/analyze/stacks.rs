//! Sums time by stack of Python frames, for flame graphs.

use std::sync::Arc;

use super::analysis::{Analysis, Run};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use super::stack::{FrameStacks, StackTexts};
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
#[derive(Debug, Clone)]
pub struct StackRow {
    texts: Arc<StackTexts>,
    number: u32,
    /// How often it was entered.
    pub count: u64,
    /// Host time in its innermost frame and in no frame inside that.
    pub self_ns: i64,
    /// Device time of the work launched meanwhile.
    pub device_self_ns: i64,
}

impl StackRow {
    /// The frames, the outermost first, with a semicolon between; of a text above 8 kB the
    /// innermost, after `…`.
    pub fn stack(&self) -> String {
        self.texts.text(self.number, ";")
    }

    /// The innermost frame.
    pub fn frame(&self) -> &str {
        self.texts.innermost(self.number)
    }
}

/// The costs of a stack.
#[derive(Debug, Clone, Copy, Default)]
struct StackCosts {
    count: u64,
    self_ns: i64,
    device_self_ns: i64,
}

static TABLE: Table<Vec<StackRow>> =
    Table { name: "stacks", doc: "the time in one Python call stack", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<StackRow>>] = &[
    text("stack", |rows, at, out| put_name(out, &rows[at].stack())),
    text("frame", |rows, at, out| put_name(out, rows[at].frame())),
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
    let mut costs: Vec<Option<StackCosts>> = Vec::new();
    for row in selection.rows() {
        let is_frame = trace.events.kind[row] == EventKind::Python;
        let frame = if is_frame { Some(row as u32) } else { frames.frame.get(row) };
        let Some(frame) = frame else { continue };
        let number = stacks.of_frame(frame);
        costs.resize(costs.len().max(number as usize + 1), None);
        let of_stack = costs[number as usize].get_or_insert_default();
        if is_frame {
            of_stack.count += 1;
        }
        if trace.events.kind[row].is_device_work() {
            add_ns(&mut of_stack.device_self_ns, selection.dur_ns(row));
        } else if !trace.is_on_device(row) {
            add_ns(&mut of_stack.self_ns, self_ns[row]);
        }
    }
    let texts = Arc::new(stacks.into_texts());
    let row = |(number, costs): (u32, Option<StackCosts>)| {
        let StackCosts { count, self_ns, device_self_ns } = costs?;
        Some(StackRow { texts: Arc::clone(&texts), number, count, self_ns, device_self_ns })
    };
    let mut rows: Vec<_> = (0..).zip(costs).filter_map(row).collect();
    sort::by_key(&mut rows, |row| std::cmp::Reverse((row.device_self_ns, row.self_ns)));
    rows
}
