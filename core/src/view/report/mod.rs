//! Writes the body of a report as HTML, for a trace or a job: complete without scripts, and the
//! same on every host.
//!
//! Templates escape everything that comes from a trace. No `style` attribute and no script is
//! written, so that a page may forbid both.

mod cards;
mod communication;
#[cfg(feature = "python-reports")]
mod difference;
#[cfg(feature = "digest")]
mod digest;
mod edit_counts;
mod edited;
mod findings;
mod flame;
#[cfg(feature = "python-reports")]
mod gathered;
mod grid;
mod health;
mod heatmap;
mod iterations;
mod memory;
mod memory_events;
mod memory_moment;
mod memory_snapshot;
mod number_scale;
mod part;
mod path;
mod pipeline;
mod rank_totals;
mod recording;
mod recording_facts;
mod report_frame;
mod requests;
mod roofline;
mod section;
mod source;
#[cfg(feature = "python-reports")]
mod step_change;
#[cfg(feature = "machines")]
mod topology;
mod tops;
mod trace_facts;
mod trust;
mod waits;
mod words;

use maud::{Markup, html};
use serde_json::json;

use super::picture;
use super::response::Response;
use super::svg::finished;
#[cfg(feature = "python-reports")]
pub(super) use difference::answer as difference;
#[cfg(feature = "digest")]
pub(super) use digest::{answer as digest, of_comparison as digest_of_comparison};
#[cfg(feature = "digest")]
pub use digest::{digest_of_growth, digest_of_snapshot};
pub(super) use edited::EditCounts;
#[cfg(feature = "python-reports")]
pub use gathered::{GatheredJob, ShownRank, TraceFile, packed_facts};
pub(super) use memory_events::found_events;
pub(super) use memory_moment::memory_at;
pub(super) use memory_snapshot::{band_figure, memory_page};
#[cfg(feature = "python-reports")]
pub use requests::COMPARISONS;
use section::{ReportSections, SectionOutcome};
pub(super) use source::ReportSource;

/// Width in pixels of the static picture of the timeline.
const PICTURE: u32 = 1200;

/// The report's body: title, cards, contents and sections; `id="ks-timeline"` marks the timeline.
/// `facts` are the host's facts about the traces: keys and values. `left_out` counts rows that the
/// embedded traces lack.
pub(super) fn answer(
    source: &ReportSource<'_>,
    title: &str,
    facts: &[(String, String)],
    left_out: &EditCounts,
) -> Response {
    let mut sections = ReportSections::default();
    sections.add("heatmap", "Ranks and iterations", heatmap::section(source));
    sections.add("time", "Device time", part::time(source));
    sections.add("iterations", "Iterations", iterations::section(source));
    sections.add("findings", "Findings", findings::section(source));
    sections.add("timeline", "Timeline", Ok(timeline(source)));
    sections.add("stragglers", "Stragglers", communication::ranks(source));
    #[cfg(feature = "machines")]
    sections.add("topology", "Topology", topology::section(source));
    sections.add("pipeline", "Pipeline", pipeline::section(source));
    sections.add("idle", "Idle time", waits::section(source));
    sections.add("critical_path", "Critical path", path::section(source));
    sections.add("flame", "Flame graph", flame::section(source));
    sections.add("kernels", "Kernels", tops::kernels(source));
    sections.add("operators", "Operators", tops::operators(source));
    sections.add("modules", "Modules", tops::modules(source));
    sections.add("communication", "Communication", communication::section(source));
    sections.add("memory", "Memory", memory::section(source));
    sections.add("roofline", "Roofline", roofline::section(source));
    sections.add("health", "Health", Ok(health::section(source)));
    sections.add("recording", "Recording", Ok(recording::section(source, facts)));
    sections.finish();
    let page = html! {
        header class="ks-head" {
            h1 class="ks-title" { (title) }
            p class="ks-note" { (recording::line(source).join(" · ")) }
        }
        (trust::block(source))
        (edited::notes(source, left_out))
        (sections.contents())
        (cards::cards(source))
        (sections.html())
    };
    Response::of("report", &json!({"html": finished(page)}))
}

fn timeline(source: &ReportSource<'_>) -> SectionOutcome {
    let screen = source.screen();
    let range = screen.trimmed().unwrap_or_else(|| screen.span());
    SectionOutcome::wide(html! {
        div id="ks-timeline" { figure class="ks-picture" { (picture::draw(screen, range, PICTURE)) } }
        noscript {
            p class="ks-note" { "Scripts are off, so the timeline is a static picture. All other sections are complete." }
        }
        (about_timelines(source))
    })
}

#[cfg(feature = "python-reports")]
fn about_timelines(source: &ReportSource<'_>) -> Markup {
    source.job().map(gathered::about_timelines).unwrap_or_default()
}

/// A page in a browser has all traces of its report.
#[cfg(not(feature = "python-reports"))]
fn about_timelines(_: &ReportSource<'_>) -> Markup {
    Markup::default()
}
