//! Writes the section on device time: a bar of its parts, with numbers.

use maud::{Markup, html};

use super::report_frame::ReportFrame;
use super::requests::PER_SELECTION;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame};
use super::words::{count, decimal, percent};
use crate::analyze::tables::BREAKDOWN;
use crate::analyze::{Analysis, TimeOutline, known_analysis};
use crate::table::TableColumn;
use crate::view::chart::time_words;

/// A part of device time: its column, its name, its CSS class.
pub(super) struct DeviceTimePart {
    pub(super) column: TableColumn,
    pub(super) title: &'static str,
    pub(super) class: &'static str,
}

/// The parts of device time; they add up to the whole.
pub(super) const PARTS: [DeviceTimePart; 6] = [
    DeviceTimePart { column: BREAKDOWN.column("compute_ns"), title: "compute", class: "ks-c0" },
    DeviceTimePart {
        column: BREAKDOWN.column("exposed_communication_ns"),
        title: "exposed communication",
        class: "ks-c1",
    },
    DeviceTimePart { column: BREAKDOWN.column("exposed_copy_ns"), title: "exposed copies", class: "ks-c2" },
    DeviceTimePart { column: BREAKDOWN.column("exposed_other_ns"), title: "other work", class: "ks-c3" },
    DeviceTimePart { column: BREAKDOWN.column("idle_ns"), title: "idle", class: "ks-idle" },
    DeviceTimePart { column: BREAKDOWN.column("unknown_ns"), title: "unknown", class: "ks-unknown" },
];

pub(super) const DEVICE: TableColumn = BREAKDOWN.column("device");
pub(super) const SPAN: TableColumn = BREAKDOWN.column("span_ns");

const ANALYSIS: &Analysis = known_analysis("breakdown");

const MAX_DEVICES: usize = 256;
const MAX_WIDE: usize = 4;

pub(super) fn time(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(ANALYSIS.name, PER_SELECTION)?;
    let frame = frame(&answer, BREAKDOWN.name, MAX_DEVICES)?;
    if frame.num_rows == 0 {
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), "no device work was recorded"));
    }
    let is_there = |part: &&DeviceTimePart| (0..frame.num_rows).any(|row| ns(&frame, part, row) > 0.0);
    let parts: Vec<_> = PARTS.iter().filter(is_there).collect();
    // Bars of many are thinner, so that more are seen at once.
    let class = (frame.num_rows > MAX_WIDE).then_some("ks-many");
    Ok(SectionOutcome::half(html! {
        figure class="ks-table" data-analysis=[source.saved(ANALYSIS.name)]
            data-table=[source.saved(BREAKDOWN.name)] data-options=[source.saved(PER_SELECTION)] {
            div class="ks-scroll" tabindex="0" {
                table class=[class] {
                    caption { "Device time by device" }
                    thead {
                        tr {
                            td {}
                            @for part in &parts {
                                th scope="col" class="ks-number" {
                                    span class={ "ks-key " (part.class) } {}
                                    (part.title)
                                }
                            }
                            th scope="col" class="ks-number" { "span" }
                        }
                    }
                    tbody { @for row in 0..frame.num_rows { (device(&frame, &parts, row)) } }
                }
            }
        }
        @if let Some(outline) = source.outline() { (kinds(outline)) }
    }))
}

fn ns(frame: &ReportFrame, part: &DeviceTimePart, row: usize) -> f64 {
    frame.number(part.column, row).unwrap_or(0.0).max(0.0)
}

/// Time by event kind, on the host and on devices.
fn kinds(outline: &TimeOutline) -> Markup {
    html! {
        table {
            caption { "Time by event kind" }
            thead {
                tr {
                    th scope="col" { "kind" }
                    th scope="col" class="ks-number" { "events" }
                    th scope="col" class="ks-number" { "total " i { "ms" } }
                    th scope="col" class="ks-number" { "self " i { "ms" } }
                }
            }
            tbody {
                @for kind in &outline.time_by_kind {
                    tr {
                        td { (kind.kind) }
                        td class="ks-number" { (count(kind.count as i64)) }
                        td class="ks-number" { (decimal(kind.total_ns as f64 / 1e6, 3)) }
                        td class="ks-number" { (decimal(kind.self_ns as f64 / 1e6, 3)) }
                    }
                }
            }
        }
    }
}

/// Two rows of a device: its bar, and its numbers.
fn device(frame: &ReportFrame, parts: &[&DeviceTimePart], row: usize) -> Markup {
    let span = frame.number(SPAN, row).unwrap_or(0.0);
    let (rank, device) = (frame.rank(row), frame.int(DEVICE, row));
    let of = |name: &str, number: Option<i64>| number.map(|number| format!("{name} {number}"));
    // The device of a rank has most often its number.
    let label = [of("rank", rank), of("device", device.filter(|_| device != rank))];
    html! {
        tr class="ks-line" { td colspan=(parts.len() + 2) { (stack(frame, parts, row, span)) } }
        tr {
            th scope="row" { (label.into_iter().flatten().collect::<Vec<_>>().join(", ")) }
            @for part in parts {
                @let ns = ns(frame, part, row);
                td class="ks-number" {
                    b { (percent(ns / span.max(1.0))) } " "
                    small { @if frame.num_rows <= 2 { (time_words(ns)) } }
                }
            }
            td class="ks-number" { (time_words(span)) }
        }
    }
}

/// A bar of the parts; lengths show their share of the span.
fn stack(frame: &ReportFrame, parts: &[&DeviceTimePart], row: usize, span: f64) -> Markup {
    let mut before = 0.0;
    let places = parts.iter().map(|part| {
        let ns = ns(frame, part, row);
        let (start, share) = (before, 100.0 * ns / span.max(1.0));
        before += share;
        (part, ns, start, share)
    });
    html! {
        svg class="ks-stack" aria-hidden="true" {
            @for (part, ns, start, share) in places.filter(|(.., share)| *share > 0.0) {
                rect class=(part.class) x={ (format_args!("{start:.2}")) "%" } width={ (format_args!("{share:.2}")) "%" }
                    height="100%" {
                    title { (part.title) ": " (time_words(ns)) }
                }
            }
        }
    }
}
