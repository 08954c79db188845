//! Writes the key figures of a report.

use std::fmt::Write as _;

use super::grid::bar;
use super::source::{ReportSource, frame};
use super::words::{count, percent, plural};
use crate::analyze::TimeOutline;
use crate::time::sum_ns;
use crate::view::chart::{size_words, time_words};
use crate::view::svg::escape;

/// A number that says much.
struct ReportCard {
    label: String,
    value: String,
    /// Its meaning, below.
    note: String,
    /// A part of one, drawn as a bar.
    share: Option<f64>,
    link: Option<String>,
}

impl ReportCard {
    fn of(label: &str, value: String, note: String) -> Self {
        Self { label: label.to_owned(), value, note, share: None, link: None }
    }

    fn html(&self, out: &mut String) {
        let value = escape(&self.value);
        let value = self.link.as_ref().map_or(value.clone(), |link| format!("<a href=\"{link}\">{value}</a>"));
        let _ = write!(out, "<div class=\"ks-card\"><dt>{}</dt><dd>{value}</dd>", escape(&self.label));
        if let Some(share) = self.share {
            let _ = write!(out, "<dd class=\"ks-share\">{}</dd>", bar(share));
        }
        let _ = write!(out, "<dd class=\"ks-note\">{}</dd></div>", escape(&self.note));
    }
}

pub(super) fn cards(source: &ReportSource<'_>, all: &[TimeOutline]) -> String {
    let mut cards = if let [one] = all { of_trace(source, one) } else { of_job(all) };
    cards.extend(findings(source));
    cards.extend(memory(source));
    let mut out = String::from("<dl class=\"ks-cards\">");
    cards.iter().for_each(|card| card.html(&mut out));
    out.push_str("</dl>");
    out
}

fn of_trace(source: &ReportSource<'_>, outline: &TimeOutline) -> Vec<ReportCard> {
    let mut cards = vec![span(outline)];
    if let Some(time) = &outline.iteration_time {
        let spread = time.std_ns.map(|std_ns| format!(" ± {}", time_words(std_ns))).unwrap_or_default();
        let note = format!("mean of {}{spread}", count(time.count as i64));
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
        let note = format!("{} kernels, copies, fills", count(device.num_events as i64));
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
        let note = format!("{} without computation", time_words(exposed as f64));
        cards.push(ReportCard { share: Some(share), ..ReportCard::of("exposed communication", percent(share), note) });
    }
    if compute > 0 {
        let share = compute as f64 / span_ns;
        cards.push(ReportCard {
            share: Some(share),
            ..ReportCard::of("computing", percent(share), time_words(compute as f64))
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

/// Of all ranks: the mean, from the least to the most.
fn of_job(all: &[TimeOutline]) -> Vec<ReportCard> {
    let events: u64 = all.iter().map(|outline| outline.num_events).sum();
    let longest = all.iter().map(|outline| outline.duration_ns).max().unwrap_or(0);
    let mut cards = vec![
        ReportCard::of("traces", count(all.len() as i64), plural(events as usize, "event")),
        ReportCard::of("span", time_words(longest as f64), String::from("the longest of all ranks")),
    ];
    let means: Vec<_> =
        all.iter().filter_map(|outline| Some(outline.iteration_time.as_ref()?.mean_ns as f64)).collect();
    cards.extend(ranged("iteration", &means, time_words));
    let busy = all.iter().flat_map(|outline| outline.devices.iter().map(|device| device.busy_share));
    cards.extend(ranged("devices busy", &busy.collect::<Vec<_>>(), percent));
    let exposed = all.iter().flat_map(|outline| {
        outline.breakdown.iter().map(|row| row.exposed_communication_ns as f64 / outline.duration_ns.max(1) as f64)
    });
    let exposed: Vec<_> = exposed.collect();
    if exposed.iter().any(|share| *share > 0.0) {
        cards.extend(ranged("exposed communication", &exposed, percent));
    }
    cards
}

fn ranged(label: &str, values: &[f64], words: impl Fn(f64) -> String) -> Option<ReportCard> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (least, most) =
        values.iter().fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
    let note = format!("mean of ranks, {} to {}", words(least), words(most));
    (!values.is_empty()).then(|| ReportCard::of(label, words(mean), note))
}

fn findings(source: &ReportSource<'_>) -> Option<ReportCard> {
    // The costliest is the first.
    let answer = source.ask("findings", "{}")?;
    let found = frame(&answer, "findings", 1);
    let note = format!("up to {} for one", time_words(found.number("cost_ns", 0)?));
    Some(ReportCard {
        link: Some(String::from("#findings")),
        ..ReportCard::of("findings", count(found.num_in_all as i64), note)
    })
}

fn memory(source: &ReportSource<'_>) -> Option<ReportCard> {
    let answer = source.ask("memory", "{}")?;
    let rows = frame(&answer, "memory", 256);
    let most = |row: usize| {
        rows.number("peak_allocated_bytes", row).filter(|_| rows.text("device", row).is_some_and(|name| name != "cpu"))
    };
    let most = (0..rows.num_rows).filter_map(most).fold(0.0, f64::max);
    (most > 0.0).then(|| ReportCard::of("peak memory", size_words(most), String::from("allocated on a device")))
}
