//! Notes that a trace is trimmed, redacted or shrunk.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::edit_counts::{REDACTED, SHRUNK, TRIMMED};
use super::source::ReportSource;
use super::words::{count, plural};
use crate::edit::{Companion, TrimExtent};
use crate::time::Dur;
use crate::view::chart::time_words;

/// Number of edited rows by kind of edit.
pub(in crate::view) type EditCounts = Map<String, Value>;

/// A paragraph for each kind of edit. `left_out` counts the rows that the embedded traces lack, if
/// the report describes the whole recording.
pub(super) fn notes(source: &ReportSource<'_>, left_out: &EditCounts) -> Markup {
    let own = |kind: &str| -> u64 {
        let edits = source.facts().flat_map(|(_, facts)| &facts.edits);
        edits.filter(|(name, _)| name == kind).map(|(_, count)| count).sum()
    };
    let given = |kind: &str| left_out.get(kind).and_then(Value::as_u64).unwrap_or_default();
    let trimmed = trimmed(source.extent(), own(TRIMMED));
    let shrunk_words = match (shrunk(given), shrunk(own)) {
        (page, own) if page.is_empty() => {
            (!own.is_empty()).then(|| format!("removed {own}. All numbers describe the remaining data"))
        }
        (page, _) => {
            let all =
                "The tables describe the whole recording; the timeline and saved files contain the remaining data";
            Some(format!("removed {page}. {all}"))
        }
    };
    html! {
        @if let Some(words) = trimmed { (note("Trimmed", &words)) }
        @if own(REDACTED) > 0 { (note("Redacted", "pseudonyms replace text that may be private")) }
        @if let Some(words) = shrunk_words { (note("Shrunk", &words)) }
        @for part in &source.screen().parts {
            @if let Some(companion) = &part.companion { (note("Beside", &beside(companion))) }
        }
    }
}

/// The range of a trimmed recording, and the number of removed events; `None` for a whole one.
fn trimmed(extent: Option<TrimExtent>, num_left_out: u64) -> Option<String> {
    let words = |dur: Dur| time_words(dur.0 as f64);
    let ranged = extent.map(|TrimExtent { range, whole }| {
        let start = words(range.start.since(whole.start));
        format!("{} of {}, starting at {start}", words(range.dur()), words(whole.dur()))
    });
    let without = (num_left_out > 0).then(|| format!("without {}", plural(num_left_out as usize, "event")));
    let about = extent.map(|_| String::from("All numbers describe this range; events are clipped to it"));
    let first = [ranged, without].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let all = [Some(first).filter(|words| !words.is_empty()), about].into_iter().flatten().collect::<Vec<_>>();
    (!all.is_empty()).then(|| all.join(". "))
}

/// The method that placed the trace of another tool.
fn beside(companion: &Companion) -> String {
    let Companion { tool, align, offset_ns, spread_ns, num_matches, num_common } = companion;
    let how = match align.as_str() {
        "annotations" => {
            let spread = time_words(spread_ns.unwrap_or_default() as f64);
            format!("{num_matches} of {num_common} common annotations (spread {spread})")
        }
        "recorded" => String::from("its recorded times"),
        _ => format!("the given offset of {offset_ns} ns"),
    };
    format!("the timeline also shows a trace of {tool}, placed by {how}. Tables describe the trace of PyTorch alone")
}

fn shrunk(count_of: impl Fn(&str) -> u64) -> String {
    let counts = SHRUNK.iter().map(|(kind, words)| (count_of(kind), words)).filter(|(number, _)| *number > 0);
    counts.map(|(number, words)| format!("{} {words}", count(number as i64))).collect::<Vec<_>>().join(", ")
}

fn note(edit: &str, words: &str) -> Markup {
    html! { p class="ks-note ks-edited" { b { (edit) } ": " (words) "." } }
}
