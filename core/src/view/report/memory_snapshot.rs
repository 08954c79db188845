//! Writes the page of a memory snapshot.

use std::rc::Rc;

use maud::{Markup, html};

use super::grid::{CellKind, ReportGrid, col};
use super::memory_events::found_events;
use super::memory_moment::memory_at;
use super::section::{ReportSections, SectionOutcome};
use super::source::{ReportResult, ReportSource, frame, table};
use super::words::plural;
use crate::analyze::tables::{
    BandAxis, MIN_LEAK_PASSES, SnapshotAllocation, memory_bands, memory_extent as extent, memory_state_of,
    memory_without_bands,
};
use crate::analyze::{AnalysisResult, Plot, tables};
use crate::memory::MemorySnapshot;
use crate::table::TableColumn;
use crate::view::align::TimeAlignment;
use crate::view::chart::{BANDS_PLOT, figure};
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
        col("peak_allocated_bytes", "peak allocated", CellKind::Bytes),
        col("peak_reserved_bytes", "peak reserved", CellKind::Bytes),
        col("requested_bytes", "requested at end", CellKind::Bytes),
        col("allocated_bytes", "allocated at end", CellKind::Bytes),
        col("reserved_bytes", "reserved at end", CellKind::Bytes),
        col("cached_bytes", "in free segments", CellKind::Bytes),
        col("split_bytes", "free beside memory in use", CellKind::Bytes),
        col("split_share", "share of reserved", CellKind::Share),
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

const CATEGORIES: ReportGrid = ReportGrid::unsaved(
    &tables::SNAPSHOT_CATEGORIES,
    "Memory by category",
    &[
        col("device", "device", CellKind::Key),
        col("category", "category", CellKind::Word),
        col("peak_bytes", "at peak", CellKind::Bytes),
        col("kept_bytes", "at end", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
    ],
)
.by("peak_bytes");

const LEAKS: ReportGrid = ReportGrid::unsaved(
    &tables::MEMORY_LEAKS,
    "Memory that each iteration keeps, by origin",
    &[
        col("device", "device", CellKind::Key),
        col("site", "origin", CellKind::Name),
        col("iteration_bytes", "per iteration", CellKind::Bytes),
        col("kept_bytes", "in use at end", CellKind::Bytes),
        col("num_iterations", "iterations", CellKind::Count),
        col("confidence", "confidence", CellKind::Share),
    ],
)
.by("kept_bytes");

/// Requested bytes of each device over time.
const OVER_TIME: Plot = Plot::Steps { time: "time_ns", value: "requested_bytes", series: Some("device") };

/// The allocations that failed.
const FAILURES: ReportGrid = ReportGrid::unsaved(
    &tables::OUT_OF_MEMORY,
    "Memory when an allocation failed",
    &[
        col("device", "device", CellKind::Key),
        col("site", "origin", CellKind::Name),
        col("asked_bytes", "asked", CellKind::Bytes),
        col("device_free_bytes", "free on the device", CellKind::Bytes),
        col("usable_bytes", "free pieces", CellKind::Bytes),
        col("largest_free_bytes", "largest", CellKind::Bytes),
        col("other_streams_bytes", "of other streams", CellKind::Bytes),
        col("private_bytes", "of other pools", CellKind::Bytes),
        col("waiting_bytes", "waiting", CellKind::Bytes),
        col("allocated_bytes", "in use", CellKind::Bytes),
        col("reserved_bytes", "reserved", CellKind::Bytes),
        col("holder_bytes", "most held", CellKind::Bytes),
        col("holder", "by", CellKind::Name),
    ],
);

/// The body of a page about a memory snapshot, as HTML. Scripts replace what has a `data-fragment`
/// by answers of [`MemorySession`](crate::view::MemorySession).
pub(in crate::view) fn memory_page(
    snapshot: &MemorySnapshot,
    allocations: &[SnapshotAllocation],
    title: &str,
) -> String {
    let session = Session::default();
    let screen = Screen::new(&session, TimeAlignment::default(), false);
    let source = ReportSource::of(&screen);
    let answer = memory_without_bands(snapshot, allocations);
    let mut sections = ReportSections::default();
    sections.add("out_of_memory", "Out of memory", failures(&source, &answer));
    sections.add("leaks", "Leaks", leaks(&source, &answer));
    sections.add("memory", "Memory", devices(&source, &answer));
    sections.add("bands", "Allocations over time", bands(snapshot, allocations));
    sections.add("state", "Memory by address", state(&source, snapshot, allocations));
    sections.add("over_time", "Memory over time", over_time(&answer));
    sections.add("origins", "Memory by origin", holders(&source, &answer));
    sections.add("events", "Events", Ok(events(snapshot)));
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

fn failures(source: &ReportSource<'_>, answer: &AnalysisResult) -> ReportResult<SectionOutcome> {
    let rows = frame(answer, FAILURES.table, MAX_ROWS)?;
    if rows.num_rows == 0 {
        return Ok(SectionOutcome::Nothing);
    }
    let advice = TableColumn { table: FAILURES.table, name: "advice" };
    let mut seen = Vec::new();
    for row in 0..rows.num_rows {
        let words = rows.text(advice, row).unwrap_or("The file does not say what was asked for, or what was free");
        if !seen.contains(&words) {
            seen.push(words);
        }
    }
    Ok(SectionOutcome::wide(html! {
        @for words in seen { p { (words) "." } }
        (FAILURES.html(source, &rows))
    }))
}

fn devices(source: &ReportSource<'_>, answer: &AnalysisResult) -> ReportResult<SectionOutcome> {
    let rows = frame(answer, DEVICES.table, MAX_ROWS)?;
    if rows.num_rows == 0 {
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), "the snapshot has no memory"));
    }
    let categories = frame(answer, CATEGORIES.table, MAX_ROWS)?;
    Ok(SectionOutcome::wide(html! { (DEVICES.html(source, &rows)) (CATEGORIES.html(source, &categories)) }))
}

fn leaks(source: &ReportSource<'_>, answer: &AnalysisResult) -> ReportResult<SectionOutcome> {
    let rows = frame(answer, LEAKS.table, MAX_ROWS)?;
    if rows.num_rows > 0 {
        return Ok(SectionOutcome::wide(LEAKS.html(source, &rows)));
    }
    let devices = frame(answer, DEVICES.table, MAX_ROWS)?;
    let passes = TableColumn { table: DEVICES.table, name: "num_backward_passes" };
    let num_passes = (0..devices.num_rows).filter_map(|row| devices.number(passes, row)).fold(0.0, f64::max) as usize;
    let reason = format!("{MIN_LEAK_PASSES} backward passes are needed, and stacks tell {num_passes}");
    Ok(if num_passes < MIN_LEAK_PASSES { SectionOutcome::Missing(reason.into()) } else { SectionOutcome::Nothing })
}

fn bands(snapshot: &MemorySnapshot, allocations: &[SnapshotAllocation]) -> ReportResult<SectionOutcome> {
    let (actions, time) = (extent(snapshot, BandAxis::Actions), extent(snapshot, BandAxis::Time));
    let answer = memory_bands(snapshot, allocations, BandAxis::Actions, actions);
    if table(&answer, tables::MEMORY_BANDS.name)?.num_rows() == 0 {
        return Ok(SectionOutcome::Nothing);
    }
    let figure = band_figure(&answer, BandAxis::Actions)?;
    let length = |(start, end): (i64, i64)| end.saturating_sub(start);
    Ok(SectionOutcome::wide(html! {
        div class="ks-zoomed" data-fragment="bands" data-actions=(length(actions)) data-time=(length(time))
            data-left=(BANDS_PLOT[0]) data-right=(BANDS_PLOT[1]) { (figure) }
    }))
}

/// The picture of allocations over an axis.
pub(in crate::view) fn band_figure(answer: &AnalysisResult, axis: BandAxis) -> ReportResult<Markup> {
    let bands = table(answer, tables::MEMORY_BANDS.name)?;
    Ok(html! { figure class="ks-picture" { (figure(&**bands, Some(axis.plot()), answer.reason.as_deref())) } })
}

/// Memory when an allocation failed, or else at the peak.
fn state(
    source: &ReportSource<'_>,
    snapshot: &MemorySnapshot,
    allocations: &[SnapshotAllocation],
) -> ReportResult<SectionOutcome> {
    let (moment, state) = match memory_state_of(snapshot, allocations, "oom") {
        Ok(state) => ("oom", state),
        Err(_) => ("peak", memory_state_of(snapshot, allocations, "peak").map_err(Rc::new)?),
    };
    if table(&state, tables::MEMORY_POOLS.name)?.num_rows() == 0 {
        return Ok(SectionOutcome::Nothing);
    }
    let shown = memory_at(source, &state)?;
    let note = if moment == "oom" { "when the last allocation failed" } else { "at the peak of each device" };
    let markup = html! {
        div data-fragment="state" data-at=(moment) data-actions=(snapshot.actions.len()) { (shown) }
    };
    Ok(SectionOutcome::wide(markup).with_note(note.to_owned()))
}

fn events(snapshot: &MemorySnapshot) -> SectionOutcome {
    if snapshot.actions.is_empty() {
        return SectionOutcome::Nothing;
    }
    SectionOutcome::wide(html! { div data-fragment="events" { (found_events(snapshot, "", 0)) } })
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
