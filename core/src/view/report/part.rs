//! Writes the section on device time: a bar of its parts, with numbers.

use std::fmt::Write as _;

use super::report_frame::ReportFrame;
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, frame};
use super::words::{count, decimal, percent};
use crate::analyze::TimeOutline;
use crate::view::chart::time_words;
use crate::view::svg::escape;

/// A part of a device's time: its column, its name, its class on the page.
pub(super) struct DeviceTimePart {
    pub(super) column: &'static str,
    pub(super) title: &'static str,
    pub(super) class: &'static str,
}

/// The parts of a device's time, which add up to it.
pub(super) const PARTS: [DeviceTimePart; 5] = [
    DeviceTimePart { column: "compute_ns", title: "compute", class: "ks-c0" },
    DeviceTimePart { column: "exposed_communication_ns", title: "exposed communication", class: "ks-c1" },
    DeviceTimePart { column: "exposed_copy_ns", title: "exposed copies", class: "ks-c2" },
    DeviceTimePart { column: "exposed_other_ns", title: "other work", class: "ks-c3" },
    DeviceTimePart { column: "idle_ns", title: "idle", class: "ks-idle" },
];

const MAX_DEVICES: usize = 256;
const MAX_WIDE: usize = 4;

pub(super) fn time(source: &ReportSource<'_>, outlines: &[TimeOutline]) -> SectionOutcome {
    let title = "Where the time went";
    let Some(answer) = source.ask("breakdown", r#"{"per":"selection"}"#) else { return SectionOutcome::Nothing };
    let frame = frame(&answer, "breakdown", MAX_DEVICES);
    if frame.num_rows == 0 {
        return SectionOutcome::Missing { title, why: answer.reason.unwrap_or("no device work was recorded") };
    }
    let is_there = |part: &&DeviceTimePart| (0..frame.num_rows).any(|row| ns(&frame, part, row) > 0.0);
    let parts: Vec<_> = PARTS.iter().filter(is_there).collect();
    let mut out = String::from(
        "<figure class=\"ks-table\" data-analysis=\"breakdown\" data-table=\"breakdown\" \
         data-options=\"{&quot;per&quot;:&quot;selection&quot;}\"><div class=\"ks-scroll\" tabindex=\"0\"><table",
    );
    // Bars of many are thinner, so that more are seen at once.
    out.push_str(if frame.num_rows > MAX_WIDE { " class=\"ks-many\"" } else { "" });
    out.push_str("><caption>By device</caption><thead><tr><td></td>");
    for part in &parts {
        let _ = write!(
            out,
            "<th scope=\"col\" class=\"ks-number\"><span class=\"ks-key {}\"></span>{}</th>",
            part.class, part.title
        );
    }
    out.push_str("<th scope=\"col\" class=\"ks-number\">span</th></tr></thead><tbody>");
    for row in 0..frame.num_rows {
        device(&mut out, &frame, &parts, row);
    }
    out.push_str("</tbody></table></div></figure>");
    if let [outline] = outlines {
        kinds(&mut out, outline);
    }
    SectionOutcome::Section(ReportSection::half("time", title, out))
}

fn ns(frame: &ReportFrame, part: &DeviceTimePart, row: usize) -> f64 {
    frame.number(part.column, row).unwrap_or(0.0).max(0.0)
}

/// Time by kind of event, on the host and on devices.
fn kinds(out: &mut String, outline: &TimeOutline) {
    out.push_str(
        "<table><caption>Time by kind of event</caption><thead><tr><th scope=\"col\">kind</th>\
         <th scope=\"col\" class=\"ks-number\">events</th><th scope=\"col\" class=\"ks-number\">total <i>ms</i></th>\
         <th scope=\"col\" class=\"ks-number\">self <i>ms</i></th></tr></thead><tbody>",
    );
    for kind in &outline.time_by_kind {
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"ks-number\">{}</td><td class=\"ks-number\">{}</td><td class=\"ks-number\">{}</td></tr>",
            kind.kind,
            count(kind.count as i64),
            decimal(kind.total_ns as f64 / 1e6, 3),
            decimal(kind.self_ns as f64 / 1e6, 3)
        );
    }
    out.push_str("</tbody></table>");
}

/// A line with the bar, and a line with its numbers.
fn device(out: &mut String, frame: &ReportFrame, parts: &[&DeviceTimePart], row: usize) {
    let span = frame.number("span_ns", row).unwrap_or(0.0);
    let of = |name: &str| frame.int(name, row).map(|number| format!("{name} {number}"));
    // The device of a rank has most often its number.
    let device = of("device").filter(|_| frame.int("device", row) != frame.int("rank", row));
    let label = [of("rank"), device].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let _ = write!(
        out,
        "<tr class=\"ks-line\"><td colspan=\"{}\">{}</td></tr><tr><th scope=\"row\">{label}</th>",
        parts.len() + 2,
        stack(frame, parts, row, span)
    );
    for part in parts {
        let ns = ns(frame, part, row);
        let _ = write!(
            out,
            "<td class=\"ks-number\"><b>{}</b> <small>{}</small></td>",
            escape(&percent(ns / span.max(1.0))),
            if frame.num_rows > 2 { String::new() } else { time_words(ns) }
        );
    }
    let _ = write!(out, "<td class=\"ks-number\">{}</td></tr>", time_words(span));
}

/// The parts one after another, as long as their share of the whole.
fn stack(frame: &ReportFrame, parts: &[&DeviceTimePart], row: usize, span: f64) -> String {
    let mut out = String::from("<svg class=\"ks-stack\" aria-hidden=\"true\">");
    let mut before = 0.0;
    for part in parts {
        let ns = ns(frame, part, row);
        let share = 100.0 * ns / span.max(1.0);
        if share > 0.0 {
            let _ = write!(
                out,
                "<rect class=\"{}\" x=\"{before:.2}%\" width=\"{share:.2}%\" height=\"100%\"><title>{}: {}</title></rect>",
                part.class,
                part.title,
                time_words(ns)
            );
        }
        before += share;
    }
    out.push_str("</svg>");
    out
}
