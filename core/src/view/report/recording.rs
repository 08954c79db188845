//! Writes the section on the recording: tools, devices and dates.

use maud::html;

use super::recording_facts::RecordingFacts;
use super::section::SectionOutcome;
use super::source::ReportSource;
use super::words::plural;
use crate::view::svg::clipped;

/// The most characters of a value.
const LONGEST: usize = 300;

pub(super) fn section(source: &ReportSource<'_>, facts_of_host: &[(String, String)]) -> SectionOutcome {
    let of_first = source.first().map(|facts| facts.recording.all(source.is_job())).unwrap_or_default();
    let facts = facts_of_host.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(of_first);
    SectionOutcome::half(html! {
        table class="ks-recorded" {
            tbody {
                @for (name, value) in facts.filter(|(_, value)| !value.is_empty()) {
                    tr { th scope="row" { (name) } td { (clipped(value, LONGEST)) } }
                }
            }
        }
    })
}

/// The recording in one line: devices, versions, date.
pub(super) fn line(source: &ReportSource<'_>) -> Vec<String> {
    let Some(RecordingFacts { devices, torch, date, rank, .. }) = source.first().map(|facts| &facts.recording) else {
        return Vec::new();
    };
    let ranks = match rank {
        _ if source.is_job() => plural(source.len(), "trace"),
        Some(rank) => format!("rank {rank}"),
        None => String::new(),
    };
    let torch = if torch.is_empty() { String::new() } else { format!("PyTorch {torch}") };
    [devices.clone(), torch, ranks, date.clone()].into_iter().filter(|word| !word.is_empty()).collect()
}
