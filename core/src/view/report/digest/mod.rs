//! Writes a digest: the facts of a report in short text, within a number of characters.
//!
//! Programs that read text get it, such as jobs of a build and assistants. So each block names a
//! command that prints its rows, and text of the recording stands in quotes.

mod bottlenecks;
mod change;
mod communication;
mod completeness;
mod composed_digest;
mod digest_block;
mod digest_commands;
mod digest_contents;
mod digest_item;
mod digest_section;
mod digest_value;
mod json_form;
mod largest;
mod markdown_form;
mod memory_use;
mod next_steps;
mod quoted_text;
mod snapshot_use;
mod steps;
mod time;

use serde_json::{Map, Value, json};

use super::source::ReportSource;
use crate::analyze::VerdictState;
use crate::error::Error;
use crate::view::comparison::comparison;
use crate::view::digest_form::DigestForm;
use crate::view::response::Response;
use crate::view::screen::Screen;
use bottlenecks::DigestFindings;
use composed_digest::ComposedDigest;
use digest_commands::{DigestCommands, PATH, PATHS};
use digest_contents::DigestContents;
pub use snapshot_use::{digest_of_growth, digest_of_snapshot};

/// The digest of a trace or a job.
pub(in crate::view) fn answer(
    source: &ReportSource<'_>,
    form: DigestForm,
    max_chars: usize,
) -> Result<Response, Error> {
    let extent = source.extent().filter(|_| !source.is_job());
    let mut contents = DigestContents::new(source, DigestCommands::of_one().trimmed(extent));
    let state = completeness::state(&contents);
    let blocks = completeness::blocks(&contents);
    contents.add("completeness", "Completeness", blocks);
    let blocks = steps::blocks(&contents);
    contents.add("iterations", "Iterations", blocks);
    let blocks = time::blocks(&contents);
    contents.add("time", "Time", blocks);
    let found = DigestFindings::of(&contents);
    let blocks = found.as_ref().map(|found| found.blocks(&contents)).map_err(Clone::clone);
    contents.add("findings", "Bottlenecks", blocks);
    if found.as_ref().is_ok_and(DigestFindings::is_empty) {
        contents.note_missing("Bottlenecks", Some("no rule matched".into()));
    }
    let blocks = communication::blocks(&contents);
    contents.add("communication", "Communication", blocks);
    largest::add(&mut contents);
    let blocks = memory_use::blocks(&mut contents);
    contents.add("memory", "Memory", blocks);
    let blocks = next_steps::of_recording(&contents, found.as_ref().ok(), state);
    contents.add("next", "Look next", Ok(blocks));
    let subject = if source.is_job() { "job" } else { "trace" };
    let digest = ComposedDigest { subject, paths: PATH, caveat: state.caveat(), sections: contents.finish() };
    Ok(response(&digest.fitting(form, max_chars)?))
}

/// The digest of a comparison of two sides, with a selection of both.
pub(in crate::view) fn of_comparison(
    screen: &Screen<'_>,
    selection: &Map<String, Value>,
    form: DigestForm,
    max_chars: usize,
) -> Result<Response, Error> {
    let source = ReportSource::comparing(screen, Value::Object(selection.clone()).to_string());
    let answer = comparison(screen, selection)?;
    let contents = DigestContents::new(&source, DigestCommands::of_two());
    let state = source.facts().map(|(_, facts)| facts.state).max().unwrap_or(VerdictState::Complete);
    let sections = change::sections(contents, &answer);
    let digest = ComposedDigest { subject: "comparison", paths: PATHS, caveat: state.caveat(), sections };
    Ok(response(&digest.fitting(form, max_chars)?))
}

fn response(text: &str) -> Response {
    Response::of("digest", &json!({"text": text}))
}
