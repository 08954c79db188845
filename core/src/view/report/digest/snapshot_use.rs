//! Writes the digest of a memory snapshot, and that of two.

use super::composed_digest::ComposedDigest;
use super::digest_block::DigestBlock;
use super::digest_commands::{DigestCommands, PATH, PATHS};
use super::digest_contents::{DigestContents, DigestTable};
use super::digest_item::{DigestItem, ItemWeights};
use super::digest_value::DigestValue;
use super::next_steps;
use crate::analyze::tables::{MEMORY_GROWTH, MEMORY_PEAK_GROWTH};
use crate::analyze::{AnalysisResult, memory_growth, memory_of_snapshot, tables};
use crate::error::Error;
use crate::memory::MemorySnapshot;
use crate::view::align::TimeAlignment;
use crate::view::digest_form::DigestForm;
use crate::view::report::grid::{CellKind, GridColumn, ReportGrid, col};
use crate::view::report::requests::OPTIONS;
use crate::view::report::source::{ReportSource, frame};
use crate::view::screen::Screen;
use crate::view::session::Session;

const DEVICES: ReportGrid = ReportGrid::of(
    "memory",
    &tables::SNAPSHOT_MEMORY,
    "Memory by device",
    &[
        col("device", "device", CellKind::Key),
        col("peak_allocated_bytes", "peak allocated", CellKind::Bytes),
        col("peak_requested_bytes", "peak requested", CellKind::Bytes),
        col("peak_reserved_bytes", "peak reserved", CellKind::Bytes),
        col("peak_ns", "peak at", CellKind::Range("peak_ns")),
        col("allocated_bytes", "allocated at end", CellKind::Bytes),
        col("reserved_bytes", "reserved at end", CellKind::Bytes),
        col("split_bytes", "free beside memory in use", CellKind::Bytes),
        col("split_share", "share of reserved", CellKind::Share),
        col("num_ooms", "out of memory", CellKind::Count),
    ],
);

const FAILURES: ReportGrid = ReportGrid::of(
    "memory",
    &tables::OUT_OF_MEMORY,
    "Allocations that failed",
    &[
        col("device", "device", CellKind::Key),
        col("site", "origin", CellKind::Name),
        col("cause", "cause", CellKind::Word),
        col("asked_bytes", "asked for", CellKind::Bytes),
        col("device_free_bytes", "free on the device", CellKind::Bytes),
        col("reserved_bytes", "reserved", CellKind::Bytes),
        col("allocated_bytes", "allocated", CellKind::Bytes),
        col("holder", "largest holder", CellKind::Name),
        col("holder_bytes", "which has", CellKind::Bytes),
        col("advice", "fix", CellKind::Name),
        col("action_row", "row of actions", CellKind::Event),
    ],
);

const LEAKS: ReportGrid = ReportGrid::of(
    "memory",
    &tables::MEMORY_LEAKS,
    "Memory that each iteration keeps",
    &[
        col("device", "device", CellKind::Key),
        col("site", "origin", CellKind::Name),
        col("iteration_bytes", "per iteration", CellKind::Bytes),
        col("kept_bytes", "kept", CellKind::Bytes),
        col("num_iterations", "iterations", CellKind::Count),
        col("confidence", "confidence", CellKind::Share),
    ],
);

const HOLDERS: ReportGrid = ReportGrid::of(
    "memory",
    &tables::MEMORY_HOLDERS,
    "In use at the peak, by origin",
    &[
        col("device", "device", CellKind::Key),
        col("site", "origin", CellKind::Name),
        col("held_bytes", "in use", CellKind::Bytes),
        col("share", "share", CellKind::Share),
        col("largest_bytes", "largest", CellKind::Bytes),
        col("num_blocks", "blocks", CellKind::Count),
        col("stack_id", "stack", CellKind::Event),
    ],
);

const CATEGORIES: ReportGrid = ReportGrid::of(
    "memory",
    &tables::SNAPSHOT_CATEGORIES,
    "At the peak, by purpose",
    &[
        col("device", "device", CellKind::Key),
        col("category", "purpose", CellKind::Word),
        col("peak_bytes", "at peak", CellKind::Bytes),
        col("kept_bytes", "at end", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
    ],
);

const GROWN: &[GridColumn] = &[
    col("device", "device", CellKind::Key),
    col("site", "origin", CellKind::Name),
    col("change_bytes", "change", CellKind::Bytes),
    col("before_bytes", "before", CellKind::Bytes),
    col("after_bytes", "after", CellKind::Bytes),
    col("before_blocks", "blocks before", CellKind::Count),
    col("after_blocks", "blocks after", CellKind::Count),
];

const GROWTH: ReportGrid = ReportGrid::of_comparison(&MEMORY_GROWTH, "Growth at the end, by origin", GROWN);
const PEAK_GROWTH: ReportGrid = ReportGrid::of_comparison(&MEMORY_PEAK_GROWTH, "Growth at the peak, by origin", GROWN);

const fn table(grid: &'static ReportGrid, limit: usize, [first, step]: [u32; 2]) -> DigestTable {
    DigestTable { grid, options: [OPTIONS, ""], by: None, limit, weights: ItemWeights { first, step } }
}

const OF_SNAPSHOT: [(&str, &str, DigestTable); 5] = [
    ("failures", "Failures", table(&FAILURES, 6, [0, 3])),
    ("devices", "Devices", table(&DEVICES, 16, [1, 4])),
    ("leaks", "Leaks", table(&LEAKS, 10, [2, 4])),
    ("holders", "Holders", table(&HOLDERS, 20, [3, 3])),
    ("categories", "Purposes", table(&CATEGORIES, 12, [4, 4])),
];

const OF_GROWTH: [(&str, &str, DigestTable); 2] = [
    ("growth", "Growth", table(&GROWTH, 24, [1, 2])),
    ("peak_growth", "Growth at the peak", table(&PEAK_GROWTH, 24, [2, 3])),
];

/// The digest of a memory snapshot, of at most so many characters.
///
/// # Errors
/// For a limit that no digest fits.
///
/// ```
/// use kinetoscope::view::{DigestForm, digest_of_snapshot};
/// use kinetoscope::{Input, Limits, Recording, read_file};
/// let json = br#"{"segments": [{"device": 0, "address": 512, "total_size": 2048, "blocks": []}], "device_traces": []}"#;
/// let Recording::MemorySnapshot(snapshot) = read_file(Input::new(json), Limits::default())? else { panic!() };
/// let text = digest_of_snapshot(&snapshot, DigestForm::Markdown, 8_000)?;
/// assert!(text.contains("Memory by device") && text.contains("2 KiB"), "{text}");
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn digest_of_snapshot(snapshot: &MemorySnapshot, form: DigestForm, max_chars: usize) -> Result<String, Error> {
    let answer = memory_of_snapshot(snapshot);
    let commands = DigestCommands::of_one();
    let steps = vec![
        ("memory by pool at the peak", commands.analysis("memory_state", "--at peak")),
        ("pieces of memory at the end", commands.analysis("memory_state", "--table memory_layout")),
        ("a page with bands of allocations", commands.other("report", "-o memory.html")),
    ];
    composed(("memory snapshot", PATH), commands, &answer, (&OF_SNAPSHOT, defects(snapshot), steps))
        .fitting(form, max_chars)
}

/// The digest of the change between two memory snapshots.
///
/// # Errors
/// For a limit that no digest fits.
pub fn digest_of_growth(
    [before, after]: [&MemorySnapshot; 2],
    form: DigestForm,
    max_chars: usize,
) -> Result<String, Error> {
    let answer = memory_growth(before, after);
    let commands = DigestCommands::of_two();
    let steps = vec![("growth at the peak", commands.analysis("", "--table memory_peak_growth"))];
    composed(("memory comparison", PATHS), commands, &answer, (&OF_GROWTH, None, steps)).fitting(form, max_chars)
}

type MemoryParts<'a> =
    (&'a [(&'static str, &'static str, DigestTable)], Option<DigestBlock>, Vec<(&'static str, String)>);

fn composed(
    (subject, paths): (&'static str, &'static str),
    commands: DigestCommands,
    answer: &AnalysisResult,
    (tables, defects, steps): MemoryParts<'_>,
) -> ComposedDigest {
    let session = Session::default();
    let screen = Screen::new(&session, TimeAlignment::default(), false);
    let source = ReportSource::of(&screen);
    let mut contents = DigestContents::new(&source, commands);
    contents.add("completeness", "Completeness", Ok(defects.into_iter().collect()));
    for (id, title, table) in tables {
        let rows = frame(answer, table.grid.table, table.limit);
        let blocks = rows.map(|rows| vec![contents.block(answer, table, &rows).unmeasured()]);
        contents.add(id, title, blocks);
    }
    contents.note_missing("Memory", answer.reason.clone());
    contents.add("next", "Look next", Ok(next_steps::block(steps)));
    ComposedDigest { subject, paths, caveat: None, sections: contents.finish() }
}

/// The tolerated defects of the file.
fn defects(snapshot: &MemorySnapshot) -> Option<DigestBlock> {
    let item = |(at, warning): (usize, &crate::warning::Warning)| {
        DigestItem::new(1 + at as u32).with("count", "count", DigestValue::Count(warning.count as i64)).with(
            "message",
            "",
            DigestValue::Words(warning.kind.message().to_owned()),
        )
    };
    let items: Vec<_> = snapshot.warnings.iter().enumerate().map(item).collect();
    (!items.is_empty()).then(|| DigestBlock::list("Defects of the file", String::new(), items))
}
