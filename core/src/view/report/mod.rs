//! A report about a trace, or about all traces of a job, as the HTML of a page's body: whole without scripts, the same in
//! every host.
//!
//! Everything that comes from a trace goes through `escape`. No `style` attribute and no script is written, so that a page
//! may forbid both.

mod across;
mod cards;
mod communication;
mod edited;
mod findings;
mod frame;
mod grid;
mod health;
mod iterations;
mod memory;
mod part;
mod path;
mod recording;
mod roofline;
mod section;
mod source;
mod tops;
mod waits;
mod words;

use std::fmt::Write as _;

pub(super) use edited::Counts;
pub(super) use grid::name;
use section::{Found, Section};
use serde_json::json;
use source::Source;

use super::picture;
use super::response::Response;
use super::screen::Screen;
use super::svg::escape;
use crate::analyze::outline;

/// How many pixels wide the picture is that stands for the timeline.
const PICTURE: u32 = 1200;

/// The report's body: title, cards, contents and sections; `id="ks-timeline"` is where the timeline goes. `facts` are what
/// the host knows of the traces: what it is, and what it is called. `left_out` is what the page's own traces have less of.
#[inline(never)] // a part of the compiled core begins here (wasm/build/parts.mjs)
pub(super) fn answer(screen: &Screen<'_>, title: &str, facts: &[(String, String)], left_out: &Counts) -> Response {
    let source = Source::of(screen);
    let mut out = head(&source, title) + &edited::notes(&source, left_out);
    let outlines: Vec<_> = source.selections().map(|selection| outline(&selection)).collect();
    let found = [
        part::time(&source, &outlines),
        iterations::section(&source),
        findings::section(&source),
        Found::Section(timeline(screen)),
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
            Found::Section(section) => sections.push(section),
            Found::Missing { title, why } => missing.push((title, why)),
            Found::Nothing => {}
        }
    }
    sections.extend(section::missing(&missing));
    Section::spread(&mut sections);
    out.push_str("<nav class=\"ks-nav\" aria-label=\"Contents\">");
    sections.iter().for_each(|section| section.entry(&mut out));
    out.push_str("</nav>");
    out.push_str(&cards::cards(&source, &outlines));
    out.push_str("<div class=\"ks-grid\">");
    sections.iter().for_each(|section| section.html(&mut out));
    out.push_str("</div>");
    Response::of("report", &json!({"html": out}))
}

fn head(source: &Source<'_>, title: &str) -> String {
    let mut out = format!("<header class=\"ks-head\"><h1 class=\"ks-title\">{}</h1>", escape(title));
    let line = recording::line(source).iter().map(|word| escape(word)).collect::<Vec<_>>().join(" · ");
    // Writing into a `String` cannot fail.
    let _ = write!(out, "<p class=\"ks-note\">{line}</p></header>");
    out
}

fn timeline(screen: &Screen<'_>) -> Section {
    let body = format!(
        "<div id=\"ks-timeline\"><figure class=\"ks-picture\">{}</figure></div>\
         <noscript><p class=\"ks-note\">Scripts are off: the picture above stands for the timeline. All else is here.\
         </p></noscript>",
        picture::draw(screen, screen.trimmed().unwrap_or_else(|| screen.span()), PICTURE)
    );
    Section::wide("timeline", "Timeline", body)
}
