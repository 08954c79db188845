//! The report of a job without its traces: from facts and results that workers found in each.

use std::sync::Arc;

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::report_frame::ReportFrame;
use super::requests::{AnswerKey, OF_EACH, OPTIONS};
use super::trace_facts::TraceFacts;
use super::words::plural;
use crate::analyze::tables::HEATMAP;
use crate::analyze::{
    AnalysisResult, Selection, analysis, known_analysis, outline, packed, slowest_typical_fastest, unpacked,
};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::table::TableColumn;
use crate::view::session::Session;

const RANK: TableColumn = HEATMAP.column("rank");
const ITERATION: TableColumn = HEATMAP.column("iteration");
const DUR: TableColumn = HEATMAP.column("dur_ns");
const CAUSED_WAIT: TableColumn = HEATMAP.column("caused_wait_ns");

/// Facts and results of the ranks of a job, in place of their traces.
pub struct GatheredJob {
    pub(super) files: Vec<TraceFile>,
    pub(super) facts: Vec<TraceFacts>,
    pub(super) answers: Vec<(AnswerKey, AnalysisResult)>,
}

/// The file of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFile {
    /// Its name.
    pub name: String,
    /// Its address for a link from the page; empty without one.
    pub address: String,
}

/// A rank whose timeline the page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownRank {
    /// Place of its first trace among those of the job.
    pub at: usize,
    /// The rank.
    pub rank: i64,
    /// Why it is shown.
    pub reasons: Vec<&'static str>,
}

/// The part of a job's report that comes from one of its traces.
///
/// # Errors
/// When an analysis fails.
pub fn packed_facts(linked: &Arc<LinkedTrace>) -> Result<Vec<u8>, Error> {
    let session = Session::new(Arc::clone(linked));
    let part = session.parts.first();
    let facts = part.map(|part| TraceFacts::of(part, &outline(&Selection::within(linked, part.reported()))));
    let answers = OF_EACH.iter().map(|(name, options)| analysis(name)?.packed_answer(linked, options));
    packed(&(facts, answers.collect::<Result<Vec<_>, _>>()?))
}

impl GatheredJob {
    /// Joins the [parts](packed_facts) of the traces, each with its rank, and the results across
    /// ranks. `files` are those of the traces.
    ///
    /// # Errors
    /// When a part comes from another version.
    pub fn of(
        parts: &[(Option<i64>, Vec<u8>)],
        files: Vec<TraceFile>,
        compared: Vec<(AnswerKey, AnalysisResult)>,
    ) -> Result<Self, Error> {
        let mut facts = Vec::new();
        let mut packed: Vec<Vec<(Option<i64>, Vec<u8>)>> = vec![Vec::new(); OF_EACH.len()];
        for (rank, bytes) in parts {
            let (of_trace, answers): (Option<TraceFacts>, Vec<Vec<u8>>) = unpacked(bytes)?;
            facts.extend(of_trace.map(|facts| TraceFacts { rank: *rank, ..facts }));
            packed.iter_mut().zip(answers).for_each(|(all, answer)| all.push((*rank, answer)));
        }
        let mut answers = Vec::new();
        for (key, packed) in OF_EACH.into_iter().zip(packed) {
            answers.push((key, analysis(key.0)?.answer_of_packed(&packed, key.1)?));
        }
        answers.extend(compared);
        Ok(Self { files, facts, answers })
    }

    /// Whether a trace is a trimmed one. Results describe whole traces.
    pub fn is_trimmed(&self) -> bool {
        self.facts.iter().any(|facts| facts.is_trimmed)
    }

    /// The ranks to show on the timeline: by the mean of their iterations the slowest, the median
    /// and the fastest, and the rank that others wait for most.
    pub fn shown_ranks(&self) -> Vec<ShownRank> {
        let mut shown: Vec<ShownRank> = Vec::new();
        for (rank, reason) in reasons(&self.times()) {
            match shown.iter_mut().find(|one| one.rank == rank) {
                Some(one) => one.reasons.push(reason),
                None => {
                    let at = self.facts.iter().position(|own| own.rank == Some(rank));
                    shown.extend(at.map(|at| ShownRank { at, rank, reasons: vec![reason] }));
                }
            }
        }
        crate::sort::by_key(&mut shown, |one| one.rank);
        shown
    }

    /// The ranks of the longest and of the median iterations.
    pub(super) fn slowest_and_typical(&self) -> Option<[i64; 2]> {
        by_time(&self.times()).map(|[slowest, typical, _]| [slowest, typical])
    }

    /// The mean iteration of each rank, and the waits that it caused; in the order of the ranks.
    fn times(&self) -> Vec<RankTime> {
        let is_map = |(key, _): &&(AnswerKey, AnalysisResult)| *key == (known_analysis("heatmap").name, OPTIONS);
        let Some((_, answer)) = self.answers.iter().find(is_map) else { return Vec::new() };
        let frame = ReportFrame::of(&*answer.tables[0], usize::MAX);
        // A rank without iterations has one row for all of its time.
        let has_iterations = (0..frame.num_rows).all(|row| frame.int(ITERATION, row).is_some());
        let mut times: Vec<RankTime> = Vec::new();
        let mut known: FxHashMap<i64, usize> = FxHashMap::default();
        for row in 0..frame.num_rows {
            let Some(rank) = frame.int(RANK, row) else { continue };
            let at = *known.entry(rank).or_insert(times.len());
            if at == times.len() {
                times.push(RankTime { rank, dur_ns: 0, num: 0, caused_ns: 0 });
            }
            let of_row = |column| frame.int(column, row).unwrap_or(0);
            times[at].num += 1;
            times[at].dur_ns += i128::from(of_row(DUR));
            times[at].caused_ns = times[at].caused_ns.saturating_add(of_row(CAUSED_WAIT));
        }
        if has_iterations {
            // Ranks may have recorded unequal numbers of iterations.
            times.iter_mut().for_each(|time| time.dur_ns /= time.num);
        }
        crate::sort::by_key(&mut times, |time| time.rank);
        times
    }
}

struct RankTime {
    rank: i64,
    /// Of the mean iteration, or of all time where a rank has no iterations.
    dur_ns: i128,
    num: i128,
    caused_ns: i64,
}

/// Ranks with the reason to show them.
fn reasons(times: &[RankTime]) -> Vec<(i64, &'static str)> {
    let waited = times.iter().filter(|time| time.caused_ns > 0);
    let waited = waited.min_by_key(|time| (std::cmp::Reverse(time.caused_ns), time.rank));
    let waited = waited.map(|time| (time.rank, "most waited for"));
    let Some([slowest, typical, fastest]) = by_time(times) else { return waited.into_iter().collect() };
    waited.into_iter().chain([(slowest, "slowest"), (typical, "median"), (fastest, "fastest")]).collect()
}

/// The ranks of the most, the median and the least time.
fn by_time(times: &[RankTime]) -> Option<[i64; 3]> {
    let lengths: Vec<_> = times.iter().map(|time| time.dur_ns).collect();
    slowest_typical_fastest(&lengths).map(|places| places.map(|at| times[at].rank))
}

/// Names the ranks on the timeline, and the files of all traces.
pub(super) fn about_timelines(job: &GatheredJob) -> Markup {
    let shown = job.shown_ranks();
    let words = |one: &ShownRank| format!("rank {} ({})", one.rank, one.reasons.join(", "));
    html! {
        p class="ks-note" {
            "Timelines of " (shown.len()) " of " (plural(job.facts.len(), "trace")) ": "
            (shown.iter().map(words).collect::<Vec<_>>().join(" · "))
            ". All other sections describe all ranks."
        }
        @let files: Vec<_> = job.facts.iter().zip(&job.files).filter(|(_, file)| !file.name.is_empty()).collect();
        @if !files.is_empty() {
            details {
                summary { "Files of all ranks" }
                ul {
                    @for (facts, file) in files {
                        li {
                            @if let Some(rank) = facts.rank { "rank " (rank) ": " }
                            @if file.address.is_empty() { (file.name) } @else { a href=(file.address) { (file.name) } }
                        }
                    }
                }
            }
        }
    }
}
