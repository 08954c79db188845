//! Runs an analysis by its name, with options, on one trace or on all traces of a job.

use std::sync::Arc;

use super::job::{Job, RankedTrace, selections};
use super::options::{OptionDoc, Options, unexpected};
use super::query::{Query, QueryKind};
use super::result::AnalysisResult;
use super::selection::Selection;
use super::selection_request::SelectionRequest;
use super::verdict::StatedRank;
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::table::PartKey;
use crate::threads::each;

/// An analysis that hosts offer by its name.
#[derive(Debug)]
pub struct Analysis {
    /// The name in requests.
    pub name: &'static str,
    /// A one-line description.
    pub doc: &'static str,
    /// Options besides the selection.
    pub options: &'static [OptionDoc],
    /// Computes it.
    pub(super) run: Run,
}

/// The scope of an analysis, with its function.
#[derive(Debug, Clone, Copy)]
pub(super) enum Run {
    /// Analyses one trace. For a job it runs once per trace, and the tables are stacked.
    Trace(fn(&Selection<'_>, &Options) -> AnalysisResult),
    /// The same. For a job, rows about it as a whole come first.
    TraceAndJob(fn(&Selection<'_>, &Options) -> AnalysisResult, fn(&[StatedRank]) -> Option<AnalysisResult>),
    /// Compares the ranks of a job. A single trace counts as a job of one rank.
    Ranks(CrossRank),
}

/// An analysis across ranks. Where workers hold the traces, the job contains their collectives
/// alone, and `plan` and `queries` fetch the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrossRank {
    /// Compares the ranks of a job.
    pub(super) compare: fn(&Job<'_>, &Options) -> AnalysisResult,
    /// Plans the next queries to each rank from the collectives of all ranks and the replies so
    /// far; none ends the planning.
    pub(super) plan: PlanQueries,
    /// The queries that `plan` may send.
    pub(super) queries: &'static [QueryKind],
}

/// Plans the next queries to each trace of a job.
type PlanQueries = fn(&Job<'_>, &Options) -> Result<Vec<Vec<Query>>, Error>;

impl CrossRank {
    /// An analysis that needs nothing but the collectives.
    pub(super) const fn of_collectives(compare: fn(&Job<'_>, &Options) -> AnalysisResult) -> Self {
        Self { compare, plan: |_, _| Ok(Vec::new()), queries: &[] }
    }
}

impl Analysis {
    /// Runs on one trace. `request` is a JSON object with a selection and options; all keys may be
    /// missing.
    ///
    /// The selection is `start_ns` and `end_ns` (times as in the tables), `iteration` (the number
    /// of a `ProfilerStep#n`), `phase` (of a serving engine's iterations), `annotation` or `module`
    /// (a name, in which `*` stands for any text), `by` (`phase`: a table for each), `stream`,
    /// `launched_inside` (skips device events whose launch is outside the range), `clip` (default
    /// true; with false, an event counts whole in the range in which it, or its launch, begins) and
    /// `observed` (default false; see [`Selection::of`]). An error lists the valid choices.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use kinetoscope::analyze::analysis;
    /// use kinetoscope::{Input, Limits, LinkedTrace, read};
    /// let json = br#"[{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6, "dur": 4}]"#;
    /// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
    /// let answer = analysis("kernels")?.answer(&linked, r#"{"start_ns": 7000}"#)?;
    /// assert_eq!(answer.tables[0].num_rows(), 1);
    /// assert!(analysis("kernels")?.answer(&linked, r#"{"colour": "red"}"#).is_err());
    /// # Ok::<(), kinetoscope::Error>(())
    /// ```
    pub fn answer(&self, linked: &Arc<LinkedTrace>, request: &str) -> Result<AnalysisResult, Error> {
        let (wanted, options) = parse_request(self.options, request)?;
        self.answer_about(linked, &wanted, &options)
    }

    /// Answers about a part of a trace, which is all there is of its job.
    pub(crate) fn answer_about(
        &self,
        linked: &Arc<LinkedTrace>,
        wanted: &SelectionRequest,
        options: &Options,
    ) -> Result<AnalysisResult, Error> {
        if wanted.by_phase {
            let of_phase = |wanted: &SelectionRequest| self.answer_about(linked, wanted, options);
            return stacked_by_phase(&wanted.of_phases(&[linked])?, of_phase);
        }
        match self.run {
            Run::Trace(run) | Run::TraceAndJob(run, _) => Ok(run(&Selection::of(linked, wanted)?, options)),
            Run::Ranks(ranks) => Ok((ranks.compare)(
                &Job::of(&[(linked.trace.rank(), Arc::clone(linked))], &|_| wanted.clone(), options, 1)?,
                options,
            )),
        }
    }

    /// Answers the same request about the traces of a job, each with its rank, on as many threads
    /// as may be made.
    ///
    /// The selection applies to each trace. Tables of a single-trace analysis get the leading
    /// columns `rank` and `window`.
    pub fn answer_of_job(
        &self,
        traces: &[RankedTrace],
        request: &str,
        max_threads: usize,
    ) -> Result<AnalysisResult, Error> {
        let (wanted, options) = parse_request(self.options, request)?;
        self.answer_about_each(traces, &|_| wanted.clone(), &options, max_threads)
    }

    /// Answers about a part of each trace of a job.
    pub(crate) fn answer_about_each(
        &self,
        traces: &[RankedTrace],
        wanted: &dyn Fn(usize) -> SelectionRequest,
        options: &Options,
        max_threads: usize,
    ) -> Result<AnalysisResult, Error> {
        if let Some(first) = traces.first().map(|_| wanted(0)).filter(|wanted| wanted.by_phase) {
            let linked: Vec<_> = traces.iter().map(|(_, linked)| &**linked).collect();
            let of_phase =
                |wanted: &SelectionRequest| self.answer_about_each(traces, &|_| wanted.clone(), options, max_threads);
            return stacked_by_phase(&first.of_phases(&linked)?, of_phase);
        }
        match self.run {
            Run::Ranks(ranks) => Ok((ranks.compare)(&Job::of(traces, wanted, options, max_threads)?, options)),
            Run::Trace(run) | Run::TraceAndJob(run, _) => {
                let parts = selections(traces, wanted)?;
                let answer = |at: usize| {
                    let answer = run(&parts[at], options);
                    // The number of rows is needed soon, so lazy tables are computed here, on this
                    // thread.
                    for table in &answer.tables {
                        let _ = table.num_rows();
                    }
                    answer
                };
                let stated: Vec<_> = traces.iter().map(|(rank, linked)| (*rank, linked.trace.num_ranks())).collect();
                Ok(self.stacked(&stated, each(max_threads, parts.len(), answer)))
            }
        }
    }

    /// The answers about the traces of a job as one, after that about the job as a whole.
    pub(super) fn stacked(&self, traces: &[StatedRank], mut answers: Vec<AnalysisResult>) -> AnalysisResult {
        let mut ranks: Vec<_> = traces.iter().map(|(rank, _)| *rank).collect();
        let of_job = match self.run {
            Run::TraceAndJob(_, of_job) => of_job(traces),
            Run::Trace(_) | Run::Ranks(_) => None,
        };
        if let Some(of_job) = of_job {
            ranks.insert(0, None);
            answers.insert(0, of_job);
        }
        AnalysisResult::stacked(&ranks, &answers)
    }
}

/// The answers to the request of each phase, one under another.
pub(super) fn stacked_by_phase(
    wanted: &[(&'static str, SelectionRequest)],
    answer: impl Fn(&SelectionRequest) -> Result<AnalysisResult, Error>,
) -> Result<AnalysisResult, Error> {
    let keys: Vec<_> = wanted.iter().map(|(phase, _)| PartKey::Phase(phase)).collect();
    let answers = wanted.iter().map(|(_, wanted)| answer(wanted)).collect::<Result<Vec<_>, _>>()?;
    Ok(AnalysisResult::stacked_by(&keys, &answers))
}

/// The selection and the options of a request.
pub(super) fn parse_request(
    options: &'static [OptionDoc],
    request: &str,
) -> Result<(SelectionRequest, Options), Error> {
    let mut asked =
        serde_json::from_str(request).map_err(|error| unexpected("a JSON object of options", &error.to_string()))?;
    Ok((SelectionRequest::take(&mut asked)?, Options::new(options, asked)?))
}
