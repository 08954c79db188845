//! Writes the page of a memory snapshot.

use maud::html;

use super::grid::{CellKind, ReportGrid, col};
use super::section::{ReportSections, SectionOutcome};
use super::source::{ReportResult, ReportSource, frame, table};
use super::words::plural;
use crate::analyze::{AnalysisResult, Plot, memory_of_snapshot, tables};
use crate::memory::MemorySnapshot;
use crate::view::align::TimeAlignment;
use crate::view::chart::figure;
use crate::view::screen::Screen;
use crate::view::session::Session;
use crate::view::svg::finished;

const MAX_ROWS: usize = 50;

const DEVICES: ReportGrid = ReportGrid::unsaved(
    &tables::SNAPSHOT_MEMORY,
    "Memory by device",
    &[
        col("device", "device", CellKind::Key),
        col("peak_requested_bytes", "peak requested", CellKind::Bytes),
        col("peak_reserved_bytes", "peak reserved", CellKind::Bytes),
        col("requested_bytes", "requested at end", CellKind::Bytes),
        col("allocated_bytes", "allocated at end", CellKind::Bytes),
        col("reserved_bytes", "reserved at end", CellKind::Bytes),
        col("free_bytes", "free in it", CellKind::Bytes),
        col("largest_free_bytes", "largest free block", CellKind::Bytes),
        col("num_segments", "segments", CellKind::Count),
        col("num_blocks", "blocks in use", CellKind::Count),
        col("num_ooms", "out of memory", CellKind::Count),
    ],
);

const HOLDERS: ReportGrid = ReportGrid::unsaved(
    &tables::MEMORY_HOLDERS,
    "In use at the peak, by origin",
    &[
        col("device", "device", CellKind::Key),
        col("site", "origin", CellKind::Name),
        col("held_bytes", "in use", CellKind::Bytes),
        col("share", "share", CellKind::Share),
        col("largest_bytes", "largest", CellKind::Bytes),
        col("num_blocks", "blocks", CellKind::Count),
    ],
)
.by("held_bytes");

/// Requested bytes of each device over time.
const OVER_TIME: Plot = Plot::Steps { time: "time_ns", value: "requested_bytes", series: Some("device") };

/// The body of a page about a memory snapshot, as HTML: memory by device, over time, and by origin.
///
/// ```
/// use kinetoscope::{Input, Limits, Recording, read_file, view::memory_page};
/// let json = br#"{"segments": [{"device": 0, "address": 512, "total_size": 2048, "blocks": []}], "device_traces": []}"#;
/// let Recording::MemorySnapshot(snapshot) = read_file(Input::new(json), Limits::default())? else { panic!() };
/// assert!(memory_page(&snapshot, "snapshot.json").contains("Memory by device"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn memory_page(snapshot: &MemorySnapshot, title: &str) -> String {
    let session = Session::default();
    let screen = Screen::new(&session, TimeAlignment::default(), false);
    let source = ReportSource::of(&screen);
    let answer = memory_of_snapshot(snapshot);
    let mut sections = ReportSections::default();
    sections.add("memory", "Memory", devices(&source, &answer));
    sections.add("bands", "Allocations over time", bands(&answer));
    sections.add("over_time", "Memory over time", over_time(&answer));
    sections.add("origins", "Memory by origin", holders(&source, &answer));
    sections.add("health", "Defects of the file", Ok(defects(snapshot)));
    sections.finish();
    let facts =
        [(snapshot.actions.len(), "action"), (snapshot.segments.len(), "segment"), (snapshot.blocks.len(), "block")];
    let facts: Vec<_> = facts.iter().map(|(number, noun)| plural(*number, noun)).collect();
    finished(html! {
        header class="ks-head" {
            h1 class="ks-title" { (title) }
            p class="ks-note" { "memory snapshot · " (facts.join(" · ")) }
        }
        (sections.contents())
        (sections.html())
    })
}

fn devices(source: &ReportSource<'_>, answer: &AnalysisResult) -> ReportResult<SectionOutcome> {
    let rows = frame(answer, DEVICES.table, MAX_ROWS)?;
    if rows.num_rows == 0 {
        return Ok(SectionOutcome::missing(answer.reason, "the snapshot has no memory"));
    }
    Ok(SectionOutcome::wide(DEVICES.html(source, &rows)))
}

fn bands(answer: &AnalysisResult) -> ReportResult<SectionOutcome> {
    let bands = table(answer, tables::MEMORY_BANDS.name)?;
    if bands.num_rows() == 0 {
        return Ok(SectionOutcome::Nothing);
    }
    Ok(SectionOutcome::wide(html! {
        figure class="ks-picture" { (figure(&**bands, Some(tables::BANDS_PLOT), None)) }
    }))
}

fn over_time(answer: &AnalysisResult) -> ReportResult<SectionOutcome> {
    let series = table(answer, tables::SNAPSHOT_SERIES.name)?;
    if series.num_rows() == 0 {
        let reason =
            "no actions of the allocator were recorded (torch.cuda.memory._record_memory_history records them)";
        return Ok(SectionOutcome::missing(None, reason));
    }
    Ok(SectionOutcome::wide(html! {
        figure class="ks-picture ks-narrow" { (figure(&**series, Some(OVER_TIME), None)) }
    }))
}

fn holders(source: &ReportSource<'_>, answer: &AnalysisResult) -> ReportResult<SectionOutcome> {
    let rows = frame(answer, HOLDERS.table, MAX_ROWS)?;
    if rows.num_rows == 0 {
        return Ok(SectionOutcome::missing(None, "nothing is in use at the peak"));
    }
    Ok(SectionOutcome::wide(HOLDERS.html(source, &rows)))
}

fn defects(snapshot: &MemorySnapshot) -> SectionOutcome {
    if snapshot.warnings.iter().next().is_none() {
        return SectionOutcome::Nothing;
    }
    SectionOutcome::half(html! {
        ul {
            @for warning in snapshot.warnings.iter() {
                li { (plural(warning.count as usize, "time")) ": " (warning.kind.message()) "." }
            }
        }
    })
}
