//! Writes the body of a report as HTML, for a trace or a job: complete without scripts, and the
//! same on every host.
//!
//! Everything that comes from a trace goes through `escape`. No `style` attribute and no script is
//! written, so that a page may forbid both.

mod cards;
mod communication;
mod edited;
mod findings;
mod grid;
mod health;
mod iterations;
mod memory;
mod part;
mod path;
mod rank_totals;
mod recording;
mod report_frame;
mod roofline;
mod section;
mod source;
mod tops;
mod waits;
mod words;

use std::fmt::Write as _;

use serde_json::json;

use super::picture;
use super::response::Response;
use super::screen::Screen;
use super::svg::escape;
use crate::analyze::outline;
pub(super) use edited::EditCounts;
pub(super) use grid::name;
use section::{ReportSection, SectionOutcome};
use source::ReportSource;

/// How many pixels wide the picture is that stands for the timeline.
const PICTURE: u32 = 1200;

/// The report's body: title, cards, contents and sections; `id="ks-timeline"` marks the timeline.
/// `facts` are the host's facts about the traces: keys and values. `left_out` counts rows that the
/// embedded traces lack.
pub(super) fn answer(screen: &Screen<'_>, title: &str, facts: &[(String, String)], left_out: &EditCounts) -> Response {
    let source = ReportSource::of(screen);
    let mut out = head(&source, title) + &edited::notes(&source, left_out);
    let outlines: Vec<_> = source.selections().map(|selection| outline(&selection)).collect();
    let found = [
        part::time(&source, &outlines),
        iterations::section(&source),
        findings::section(&source),
        SectionOutcome::Section(timeline(screen)),
        communication::ranks(&source),
        waits::section(&source),
        path::section(&source),
        tops::kernels(&source),
        tops::operators(&source),
        tops::modules(&source),
        communication::section(&source),
        memory::section(&source),
        roofline::section(&source),
        health::section(&source),
        recording::section(&source, facts),
    ];
    let (mut sections, mut missing) = (Vec::new(), Vec::new());
    for found in found {
        match found {
            SectionOutcome::Section(section) => sections.push(section),
            SectionOutcome::Missing { title, why } => missing.push((title, why)),
            SectionOutcome::Nothing => {}
        }
    }
    sections.extend(section::missing(&missing));
    ReportSection::spread(&mut sections);
    out.push_str("<nav class=\"ks-nav\" aria-label=\"Contents\">");
    sections.iter().for_each(|section| section.entry(&mut out));
    out.push_str("</nav>");
    out.push_str(&cards::cards(&source, &outlines));
    out.push_str("<div class=\"ks-grid\">");
    sections.iter().for_each(|section| section.html(&mut out));
    out.push_str("</div>");
    Response::of("report", &json!({"html": out}))
}

fn head(source: &ReportSource<'_>, title: &str) -> String {
    let mut out = format!("<header class=\"ks-head\"><h1 class=\"ks-title\">{}</h1>", escape(title));
    let line = recording::line(source).iter().map(|word| escape(word)).collect::<Vec<_>>().join(" · ");
    // Writing into a `String` cannot fail.
    let _ = write!(out, "<p class=\"ks-note\">{line}</p></header>");
    out
}

fn timeline(screen: &Screen<'_>) -> ReportSection {
    let body = format!(
        "<div id=\"ks-timeline\"><figure class=\"ks-picture\">{}</figure></div>\
         <noscript><p class=\"ks-note\">Scripts are off: the picture above stands for the timeline. All else is here.\
         </p></noscript>",
        picture::draw(screen, screen.trimmed().unwrap_or_else(|| screen.span()), PICTURE)
    );
    ReportSection::wide("timeline", "Timeline", body)
}
