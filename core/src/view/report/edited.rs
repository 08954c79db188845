//! Notes that a trace is trimmed, redacted or shrunk.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::source::ReportSource;
use super::words::{count, plural};
use crate::edit::TrimExtent;
use crate::time::Dur;
use crate::view::chart::time_words;

/// Kinds of removed rows when a trace is shrunk: key and display name.
const SHRUNK: [(&str, &str); 6] = [
    ("shrunk_event", "short calls on the host"),
    ("shrunk_frame", "calls of Python"),
    ("shrunk_node", "nodes of the Execution Trace"),
    ("shrunk_instant", "points in time, such as allocations"),
    ("shrunk_arguments", "events' arguments that no table shows"),
    ("shrunk_flow", "arrows that launches draw, too"),
];

/// How often something was done, by its name.
pub(in crate::view) type EditCounts = Map<String, Value>;

/// A paragraph for each sort of change; `left_out` of the traces that the page carries, where the
/// report is of the whole.
pub(super) fn notes(source: &ReportSource<'_>, left_out: &EditCounts) -> Markup {
    let own = |kind: &str| -> u64 {
        let warnings = source.traces().flat_map(|(_, linked)| linked.trace.warnings.iter());
        warnings.filter(|warning| warning.kind.name() == kind).map(|warning| warning.count).sum()
    };
    let given = |kind: &str| left_out.get(kind).and_then(Value::as_u64).unwrap_or_default();
    let trimmed = trimmed(source.extent(), own("trimmed"));
    let shrunk_words = match (shrunk(given), shrunk(own)) {
        (page, own) if page.is_empty() => {
            (!own.is_empty()).then(|| format!("left out are {own}. All that is here is of what is left"))
        }
        (page, _) => {
            let all = "The tables here are of the whole recording; the timeline, and what is saved, have what is left";
            Some(format!("left out are {page}. {all}"))
        }
    };
    html! {
        @if let Some(words) = trimmed { (note("A part of the recording", &words)) }
        @if own("redacted") > 0 { (note("Redacted", "pseudonyms stand for texts that may be private")) }
        @if let Some(words) = shrunk_words { (note("Made smaller", &words)) }
    }
}

/// The range of a trimmed recording, and the share that is missing; `None` for a whole one.
fn trimmed(extent: Option<TrimExtent>, num_left_out: u64) -> Option<String> {
    let words = |dur: Dur| time_words(dur.0 as f64);
    let ranged = extent.map(|TrimExtent { range, whole }| {
        let start = words(range.start.since(whole.start));
        format!("{} of {}, from {start} on", words(range.dur()), words(whole.dur()))
    });
    let without = (num_left_out > 0).then(|| format!("without {} of it", plural(num_left_out as usize, "event")));
    let about = extent.map(|_| String::from("All figures are of this range, to which events are cut"));
    let first = [ranged, without].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let all = [Some(first).filter(|words| !words.is_empty()), about].into_iter().flatten().collect::<Vec<_>>();
    (!all.is_empty()).then(|| all.join(". "))
}

fn shrunk(count_of: impl Fn(&str) -> u64) -> String {
    let counts = SHRUNK.iter().map(|(kind, words)| (count_of(kind), words)).filter(|(number, _)| *number > 0);
    counts.map(|(number, words)| format!("{} {words}", count(number as i64))).collect::<Vec<_>>().join(", ")
}

fn note(edit: &str, words: &str) -> Markup {
    html! { p class="ks-note ks-edited" { b { (edit) } ": " (words) "." } }
}
