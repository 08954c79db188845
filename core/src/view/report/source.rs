//! The traces of a report, with cached analysis results.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

#[cfg(feature = "python-reports")]
use super::gathered::GatheredJob;
use super::grid::ComparisonSide;
use super::report_frame::ReportFrame;
use super::requests::AnswerKey;
use super::requests::OPTIONS;
use super::trace_facts::TraceFacts;
use crate::analyze::{
    AnalysisResult, MissingRanks, Options, RankedTrace, Selection, TimeOutline, analysis, outline, slowest_and_typical,
};
use crate::edit::TrimExtent;
use crate::error::{Error, ErrorKind};
use crate::link::LinkedTrace;
use crate::table::{TableColumn, TableRows};
use crate::time::Ts;
use crate::view::comparison::sides;
use crate::view::screen::Screen;
use crate::view::session_trace::TraceView;

/// The traces of a report: one, or those of a job in the order of their ranks.
pub(in crate::view) struct ReportSource<'a> {
    screen: &'a Screen<'a>,
    /// Empty for a gathered job.
    traces: Vec<RankedTrace>,
    /// Its facts, for a gathered job.
    #[cfg(feature = "python-reports")]
    gathered: Option<&'a GatheredJob>,
    facts: OnceCell<Vec<TraceFacts>>,
    outlines: OnceCell<Vec<TimeOutline>>,
    /// Cached results, for sections with equal requests.
    answers: RefCell<FxHashMap<AnswerKey, ReportResult<Rc<AnalysisResult>>>>,
    /// The options of all tables on the page, a JSON object.
    options: Cow<'static, str>,
    /// Files of the job that could not be read.
    unread: &'a [UnreadFile],
}

/// The name of a file, and why it could not be read.
pub(in crate::view) type UnreadFile = (String, String);

/// A value, or the error of an analysis, which sections with equal requests share.
pub(in crate::view) type ReportResult<T> = Result<T, Rc<Error>>;

impl<'a> ReportSource<'a> {
    pub(in crate::view) fn of(screen: &'a Screen<'a>) -> Self {
        Self {
            screen,
            traces: screen.session.ranked(),
            #[cfg(feature = "python-reports")]
            gathered: None,
            facts: OnceCell::new(),
            outlines: OnceCell::new(),
            answers: RefCell::default(),
            options: Cow::Borrowed(OPTIONS),
            unread: &[],
        }
    }

    /// The same with files of the job that could not be read.
    pub(in crate::view) fn lacking(self, unread: &'a [UnreadFile]) -> Self {
        Self { unread, ..self }
    }

    /// Files of the job that could not be read.
    pub(super) fn unread(&self) -> &'a [UnreadFile] {
        self.unread
    }

    /// The ranks of a job without a trace, where they are known.
    pub(super) fn missing_ranks(&self) -> Option<MissingRanks> {
        MissingRanks::of(&self.facts().map(|(rank, facts)| (rank, facts.recording.num_ranks)).collect::<Vec<_>>())
    }

    /// A job of which the screen shows some traces.
    #[cfg(feature = "python-reports")]
    pub(in crate::view) fn gathered(screen: &'a Screen<'a>, job: &'a GatheredJob) -> Self {
        let answers = job.answers.iter().map(|(key, answer)| (*key, Ok(Rc::new(answer.clone()))));
        let answers = RefCell::new(answers.collect());
        Self { traces: Vec::new(), gathered: Some(job), answers, ..Self::of(screen) }
    }

    /// The sides of a comparison, and the selection of both.
    pub(super) fn comparing(screen: &'a Screen<'a>, selection: String) -> Self {
        Self { options: Cow::Owned(selection), ..Self::of(screen) }
    }

    /// The traces on the timeline.
    pub(super) fn screen(&self) -> &'a Screen<'a> {
        self.screen
    }

    /// The job, if the page lacks some of its traces.
    #[cfg(feature = "python-reports")]
    pub(super) fn job(&self) -> Option<&'a GatheredJob> {
        self.gathered
    }

    /// The options of all tables on the page, a JSON object.
    pub(super) fn options(&self) -> &str {
        &self.options
    }

    /// Facts about each trace, with its rank.
    pub(super) fn facts(&self) -> impl Iterator<Item = (Option<i64>, &TraceFacts)> {
        let own = || {
            let parts = self.screen.members().iter().zip(self.outlines());
            parts.map(|(part, outline)| TraceFacts::of(part.part(), outline)).collect()
        };
        let facts = self.gathered_facts().unwrap_or_else(|| self.facts.get_or_init(own));
        facts.iter().map(|facts| (facts.rank, facts))
    }

    #[cfg(feature = "python-reports")]
    fn gathered_facts(&self) -> Option<&[TraceFacts]> {
        self.gathered.map(|job| &*job.facts)
    }

    /// A page in a browser has all traces of its report.
    #[cfg(not(feature = "python-reports"))]
    fn gathered_facts(&self) -> Option<&[TraceFacts]> {
        None
    }

    /// The trace, unless it is one of a job.
    pub(super) fn single(&self) -> Option<&LinkedTrace> {
        self.traces.first().filter(|_| !self.is_job()).map(|(_, linked)| &**linked)
    }

    /// Times of the trace, unless it is one of a job.
    pub(super) fn outline(&self) -> Option<&TimeOutline> {
        self.outlines().first().filter(|_| !self.is_job())
    }

    fn outlines(&self) -> &[TimeOutline] {
        self.outlines.get_or_init(|| self.selections().map(|selection| outline(&selection)).collect())
    }

    /// Number of traces.
    pub(super) fn len(&self) -> usize {
        self.gathered_facts().map_or(self.traces.len(), <[_]>::len)
    }

    /// The name of a table's analysis, for scripts that save all of the table; `None` if the page
    /// lacks traces.
    pub(super) fn saved<'n>(&self, name: &'n str) -> Option<&'n str> {
        Some(name).filter(|_| self.gathered_facts().is_none())
    }

    /// Whether ranks are compared.
    pub(super) fn is_job(&self) -> bool {
        self.len() > 1
    }

    /// The traces of a job with the longest and the median iterations, if the timeline has both.
    pub(super) fn slowest_and_typical(&self) -> Option<[TraceView<'a>; 2]> {
        #[cfg(feature = "python-reports")]
        if let Some(job) = self.gathered {
            let ranks = job.slowest_and_typical()?.map(|rank| self.screen.of_rank(Some(rank), 0));
            return Some([ranks[0]?, ranks[1]?]);
        }
        slowest_and_typical(&self.traces).map(|places| places.map(|at| self.screen.parts[at]))
    }

    /// The first trace, for facts that all traces share.
    pub(super) fn first(&self) -> Option<&TraceFacts> {
        self.facts().next().map(|(_, facts)| facts)
    }

    /// The reported range of each trace.
    fn selections(&self) -> impl Iterator<Item = Selection<'_>> {
        let range = |at: usize| self.screen.parts[at].reported();
        self.traces.iter().enumerate().map(move |(at, (_, linked))| Selection::within(linked, range(at)))
    }

    /// The extent of the first trace, if it is trimmed.
    pub(super) fn extent(&self) -> Option<TrimExtent> {
        self.screen.parts.first()?.extent
    }

    /// The result of an analysis with options, a JSON object.
    pub(super) fn ask(&self, name: &'static str, options: &'static str) -> ReportResult<Rc<AnalysisResult>> {
        let mut answers = self.answers.borrow_mut();
        let answer = || self.answer(name, options).map(Rc::new).map_err(Rc::new);
        answers.entry((name, options)).or_insert_with(answer).clone()
    }

    fn answer(&self, name: &str, options: &str) -> Result<AnalysisResult, Error> {
        let analysis = analysis(name)?;
        let given =
            serde_json::from_str(options).map_err(|error| unexpected("a JSON object of options", error.to_string()))?;
        let options = Options::new(analysis.options, given)?;
        if self.gathered_facts().is_some() {
            return Err(unexpected("an answer of each rank", name.to_owned()));
        }
        let wanted = |at: usize| self.screen.parts[at].trimmed();
        match &self.traces[..] {
            [(_, linked)] => analysis.answer_about(linked, &wanted(0), &options),
            traces => analysis.answer_about_each(traces, &wanted, &options, 1),
        }
    }

    /// The timeline address of an event in a row.
    pub(super) fn event(&self, frame: &ReportFrame, row: usize, id: i64) -> Option<String> {
        Some(format!("#event={}", self.shown_id(frame, row, id)?))
    }

    /// The same of an event of one side of a comparison.
    pub(super) fn event_of(
        &self,
        frame: &ReportFrame,
        row: usize,
        (side, id): (ComparisonSide, i64),
    ) -> Option<String> {
        let [before, after] = sides(self.screen);
        let parts = if side == ComparisonSide::Before { before } else { after };
        let rank = frame.rank(row);
        let mut of_rank = parts.iter().filter(|part| rank.is_none() || part.rank == rank);
        let part = of_rank.nth(usize::try_from(frame.window(row).unwrap_or(0)).ok()?)?;
        Some(format!("#event={}", i64::from(part.first_id).checked_add(id)?))
    }

    /// The timeline address of the gap that an event in a row ends.
    pub(super) fn gap(&self, frame: &ReportFrame, row: usize, id: i64) -> Option<String> {
        Some(format!("#gap={}", self.shown_id(frame, row, id)?))
    }

    /// The id of an event among those of all traces.
    fn shown_id(&self, frame: &ReportFrame, row: usize, id: i64) -> Option<i64> {
        i64::from(self.part(frame, row)?.first_id).checked_add(id)
    }

    /// The timeline address of a range in a row.
    pub(super) fn range(&self, frame: &ReportFrame, row: usize, (start_ns, dur_ns): (i64, i64)) -> Option<String> {
        let part = self.part(frame, row)?;
        let which = if self.is_job() { format!("&part={}", part.at) } else { String::new() };
        Some(address(part, start_ns, dur_ns) + &which)
    }

    /// The timeline address of a range in the first trace.
    pub(super) fn range_of_first(&self, start_ns: i64, dur_ns: i64) -> Option<String> {
        self.screen.parts.first().map(|part| address(*part, start_ns, dur_ns))
    }

    /// The trace of a row.
    fn part(&self, frame: &ReportFrame, row: usize) -> Option<TraceView<'a>> {
        if self.is_job() {
            return self.screen.of_rank(frame.rank(row), frame.window(row).unwrap_or(0));
        }
        self.screen.parts.first().copied()
    }
}

fn address(part: TraceView<'_>, start_ns: i64, dur_ns: i64) -> String {
    let start = part.offset(Ts(start_ns)).max(0.0);
    format!("#range={start:.0}-{:.0}", start + dur_ns.max(1) as f64)
}

/// An error that says what the report expected of an analysis.
fn unexpected(expected: &str, found: String) -> Error {
    ErrorKind::Request { expected: expected.to_owned(), found }.into()
}

/// A table of an answer by its name. The error lists the available tables.
pub(super) fn table<'a>(answer: &'a AnalysisResult, name: &str) -> ReportResult<&'a Arc<dyn TableRows>> {
    answer.tables.iter().find(|table| table.name() == name).ok_or_else(|| {
        let names: Vec<_> = answer.tables.iter().map(|table| table.name()).collect();
        Rc::new(unexpected(&format!("a table named {name}"), format!("{names:?}")))
    })
}

/// The largest rows by a column in a job, whose rows are grouped by rank; the first rows of a
/// single trace, which are sorted already.
pub(super) fn top(
    source: &ReportSource<'_>,
    answer: &AnalysisResult,
    by: TableColumn,
    limit: usize,
) -> ReportResult<ReportFrame> {
    let table = table(answer, by.table)?;
    Ok(if source.is_job() { ReportFrame::top(table, by, limit) } else { ReportFrame::of(&**table, limit) })
}

/// All rows of a table in their order or, above the limit, the largest by a column.
pub(super) fn top_of(answer: &AnalysisResult, by: TableColumn, limit: usize) -> ReportResult<ReportFrame> {
    let table = table(answer, by.table)?;
    let is_long = table.num_rows() > limit;
    Ok(if is_long { ReportFrame::top(table, by, limit) } else { ReportFrame::of(&**table, limit) })
}

/// The first rows of a table.
pub(super) fn frame(answer: &AnalysisResult, name: &str, limit: usize) -> ReportResult<ReportFrame> {
    Ok(ReportFrame::of(&**table(answer, name)?, limit))
}
