//! Writes the cards of a report: its key numbers.

use std::fmt::Display;

use maud::{Markup, html};

use super::grid::bar;
use super::requests::OPTIONS;
use super::source::{ReportResult, ReportSource, frame};
use super::words::{count, percent, plural};
use crate::analyze::{TimeOutline, known_analysis, tables};
use crate::table::TableColumn;
use crate::time::sum_ns;
use crate::view::chart::{size_words, time_words};

/// A key number.
struct ReportCard {
    label: String,
    value: String,
    /// Details, below the value.
    note: String,
    /// A fraction, drawn as a bar.
    share: Option<f64>,
    link: Option<String>,
}

impl ReportCard {
    fn of(label: &str, value: String, note: String) -> Self {
        Self { label: label.to_owned(), value, note, share: None, link: None }
    }

    /// The card of an analysis that failed.
    fn failed(label: &str, error: &dyn Display) -> Self {
        Self::of(label, String::from("—"), format!("the analysis failed: {error}"))
    }

    fn html(&self) -> Markup {
        html! {
            div class="ks-card" {
                dt { (self.label) }
                dd { @if let Some(link) = &self.link { a href=(link) { (self.value) } } @else { (self.value) } }
                @if let Some(share) = self.share { dd class="ks-share" { (bar(share)) } }
                dd class="ks-note" { (self.note) }
            }
        }
    }
}

pub(super) fn cards(source: &ReportSource<'_>) -> Markup {
    let mut cards = source.outline().map_or_else(|| of_job(source), |outline| of_trace(source, outline));
    cards.extend(findings(source).unwrap_or_else(|error| Some(ReportCard::failed("findings", &error))));
    cards.extend(memory(source).unwrap_or_else(|error| Some(ReportCard::failed("peak memory", &error))));
    html! { dl class="ks-cards" { @for card in &cards { (card.html()) } } }
}

/// The number of observed iterations that the report of a whole trace leaves out.
fn left_out(source: &ReportSource<'_>) -> String {
    let whole = source.single().filter(|_| source.extent().is_none());
    let Some(linked) = whole.filter(|linked| linked.clean_range().is_some()) else { return String::new() };
    let num = linked.links.iterations.iter().filter(|each| each.is_observed).count();
    format!(", without {} observed", count(num as i64))
}

fn of_trace(source: &ReportSource<'_>, outline: &TimeOutline) -> Vec<ReportCard> {
    let mut cards = vec![span(outline)];
    if let Some(time) = &outline.iteration_time {
        let spread = time.std_ns.map(|std_ns| format!(" ± {}", time_words(std_ns))).unwrap_or_default();
        let left_out = left_out(source);
        let note = format!("mean of {}{spread}{left_out}", plural(time.count as usize, "iteration"));
        cards.push(ReportCard::of("iteration", time_words(time.mean_ns as f64), note));
        let slowest = outline.iterations.iter().find(|iteration| iteration.iteration == time.slowest);
        if let Some(slowest) = slowest.filter(|_| time.count > 1) {
            let link = source.range_of_first(slowest.start_ns, slowest.dur_ns);
            let note = format!("iteration {}", count(time.slowest));
            cards.push(ReportCard { link, ..ReportCard::of("slowest", time_words(time.slowest_ns as f64), note) });
        }
    }
    for device in &outline.devices {
        let label = device.device.map_or_else(|| String::from("device busy"), |number| format!("device {number} busy"));
        let unknown = Some(device.unknown_share).filter(|share| *share > 0.0);
        let unknown = unknown.map(|share| format!("; {} unknown", percent(share))).unwrap_or_default();
        let note = format!("{} kernels, copies, fills{unknown}", count(device.num_events as i64));
        cards.push(ReportCard {
            share: Some(device.busy_share),
            ..ReportCard::of(&label, percent(device.busy_share), note)
        });
    }
    let compute = sum_ns(outline.breakdown.iter().map(|row| row.compute_ns));
    let exposed = sum_ns(outline.breakdown.iter().map(|row| row.exposed_communication_ns));
    let span_ns = outline.duration_ns.max(1) as f64 * outline.breakdown.len().max(1) as f64;
    if exposed > 0 {
        let share = exposed as f64 / span_ns;
        let note = format!("{} not hidden by computation", time_words(exposed as f64));
        cards.push(ReportCard { share: Some(share), ..ReportCard::of("exposed communication", percent(share), note) });
    }
    if compute > 0 {
        let share = compute as f64 / span_ns;
        cards.push(ReportCard {
            share: Some(share),
            ..ReportCard::of("computation", percent(share), time_words(compute as f64))
        });
    }
    cards
}

fn span(outline: &TimeOutline) -> ReportCard {
    let nodes =
        if outline.num_nodes > 0 { format!(", {} nodes", count(outline.num_nodes as i64)) } else { String::new() };
    let note = format!("{}{nodes}", plural(outline.num_events as usize, "event"));
    ReportCard::of("span", time_words(outline.duration_ns as f64), note)
}

/// Cards of a job: means over ranks, with minimum and maximum.
fn of_job(source: &ReportSource<'_>) -> Vec<ReportCard> {
    let all: Vec<_> = source.facts().map(|(_, facts)| &facts.time).collect();
    let events: u64 = all.iter().map(|time| time.num_events).sum();
    let longest = all.iter().map(|time| time.duration_ns).max().unwrap_or(0);
    let mut cards = vec![
        ReportCard::of("traces", count(all.len() as i64), plural(events as usize, "event")),
        ReportCard::of("span", time_words(longest as f64), String::from("longest rank")),
    ];
    let means: Vec<_> = all.iter().filter_map(|time| Some(time.mean_iteration_ns? as f64)).collect();
    cards.extend(ranged("iteration", &means, time_words));
    let busy: Vec<_> = all.iter().flat_map(|time| &time.busy_shares).copied().collect();
    cards.extend(ranged("devices busy", &busy, percent));
    let exposed: Vec<_> = all.iter().flat_map(|time| &time.exposed_shares).copied().collect();
    if exposed.iter().any(|share| *share > 0.0) {
        cards.extend(ranged("exposed communication", &exposed, percent));
    }
    cards
}

fn ranged(label: &str, values: &[f64], words: impl Fn(f64) -> String) -> Option<ReportCard> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (least, most) =
        values.iter().fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
    let note = format!("mean over ranks, {} to {}", words(least), words(most));
    (!values.is_empty()).then(|| ReportCard::of(label, words(mean), note))
}

const FINDINGS: &str = known_analysis("findings").name;
const MEMORY: &str = known_analysis("memory").name;
const COST: TableColumn = tables::FINDINGS.column("cost_ns");
const DEVICE: TableColumn = tables::MEMORY.column("device");
const PEAK: TableColumn = tables::MEMORY.column("peak_allocated_bytes");

fn findings(source: &ReportSource<'_>) -> ReportResult<Option<ReportCard>> {
    // The costliest is the first.
    let found = frame(&*source.ask(FINDINGS, OPTIONS)?, tables::FINDINGS.name, 1)?;
    Ok(found.number(COST, 0).map(|cost| ReportCard {
        link: Some(String::from("#findings")),
        ..ReportCard::of("findings", count(found.num_in_all as i64), format!("costliest: up to {}", time_words(cost)))
    }))
}

fn memory(source: &ReportSource<'_>) -> ReportResult<Option<ReportCard>> {
    let rows = frame(&*source.ask(MEMORY, OPTIONS)?, tables::MEMORY.name, 256)?;
    let most = |row: usize| rows.number(PEAK, row).filter(|_| rows.text(DEVICE, row).is_some_and(|name| name != "cpu"));
    let most = (0..rows.num_rows).filter_map(most).fold(0.0, f64::max);
    let card = || ReportCard::of("peak memory", size_words(most), String::from("allocated on one device"));
    Ok((most > 0.0).then(card))
}
