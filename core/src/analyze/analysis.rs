//! What can be asked of a trace by name: an analysis, its options, its answer.

use std::sync::Arc;

use serde::Serialize;

use super::afar::Question;
use super::job::{Job, RankedTrace, selections};
use super::options::{OptionDoc, Options, unlike};
use super::selection::{Selection, Wanted};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::link::rank::windows;
use crate::table::{Part, Rows, Stacked, Table};
use crate::threads::each;

/// An analysis that hosts offer by its name.
#[derive(Debug)]
pub struct Analysis {
    /// The name it is asked for by.
    pub name: &'static str,
    /// What it says, in a line.
    pub doc: &'static str,
    /// What can be asked for besides a part of the trace.
    pub options: &'static [OptionDoc],
    /// Computes it.
    pub(super) run: Run,
}

/// How an analysis is computed, and of what.
#[derive(Debug, Clone, Copy)]
pub(super) enum Run {
    /// Of one trace. Of a job, each trace is asked, and the answers are put together.
    Trace(fn(&Selection<'_>, &Options) -> Answer),
    /// Of a job, whose ranks are compared. Of one trace, it is a job of that alone. Where the traces are elsewhere, it is of
    /// their communications, and of what is told of each, where it asks anything.
    Ranks(fn(&Job<'_>, &Options) -> Answer, Option<Ask>),
}

/// What each rank is asked next, given the communications of all and what was told so far: nothing when that is enough.
pub(super) type Ask = fn(&Job<'_>, &Options) -> Vec<Vec<Question>>;

/// What an analysis found.
pub struct Answer {
    /// Its tables, the one that answers first.
    pub tables: Vec<Arc<dyn Rows>>,
    /// Why the first table has no rows, where it has none.
    pub reason: Option<&'static str>,
    /// How it is drawn, where it can be.
    pub plot: Option<Plot>,
    /// The name of the table that is drawn; the first, where none is named.
    pub drawn: Option<&'static str>,
}

/// How a table is drawn: which of its columns mean what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Plot {
    /// A bar a row, the first rows from the top; `parts` stand one after another in it.
    Bars {
        /// The column that names the bar.
        label: &'static str,
        /// The columns whose sum is its length.
        parts: &'static [&'static str],
    },
    /// The first row before and after, and between both what each further row adds to it or takes from it.
    Change {
        /// The column that names the rows.
        label: &'static str,
        /// The column of what was before.
        before: &'static str,
        /// The column of what is after.
        after: &'static str,
    },
    /// A step function of time for each value of `series`.
    Steps {
        /// The column of times, in nanoseconds.
        time: &'static str,
        /// The column of values, each of which lasts until the next.
        value: &'static str,
        /// The column that tells the functions apart, where there are several.
        series: Option<&'static str>,
    },
    /// A point a row, on axes that count in powers of ten.
    Points {
        /// The column to the right.
        x: &'static str,
        /// The column upwards.
        y: &'static str,
        /// The column that names the point.
        label: &'static str,
        /// What no point is above.
        ceiling: Option<Ceiling>,
    },
}

/// Lines over points, which rise together with what is to the right, until each is level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ceiling {
    /// The column of their height over a point.
    pub height: &'static str,
    /// The column of the height at which the line over a point is level.
    pub level: &'static str,
    /// The column of what the line over a point is for.
    pub label: &'static str,
}

/// The time that bars show of what runs on both sides: on the host, and on the device.
const OWN_TIME: [&[&str]; 2] = [&["self_ns"], &["device_self_ns"]];

impl Plot {
    /// A point a row.
    pub(super) const fn points(x: &'static str, y: &'static str, label: &'static str) -> Self {
        Self::Points { x, y, label, ceiling: None }
    }

    /// Bars of own time: on the device, where there is any.
    pub(super) fn of_own_time(label: &'static str, has_device: bool) -> Self {
        Self::Bars { label, parts: OWN_TIME[usize::from(has_device)] }
    }

    /// Whether it is one of own time on the device.
    pub(super) fn is_of_device(&self) -> bool {
        matches!(self, Self::Bars { parts, .. } if *parts == OWN_TIME[1])
    }

    /// The same of own time, if it is one of that.
    pub(super) fn with_device(self, has_device: bool) -> Self {
        match self {
            Self::Bars { label, parts } if OWN_TIME.contains(&parts) => Self::of_own_time(label, has_device),
            other => other,
        }
    }
}

impl Answer {
    /// One table, and the reason for its having no rows when it has none.
    pub fn of<R: Send + Sync>(table: &'static Table<Vec<R>>, rows: Vec<R>, reason: &'static str) -> Self {
        let reason = rows.is_empty().then_some(reason);
        Self::with(table.of(&Arc::new(rows)), reason)
    }

    /// One table, and why it has no rows, if it has none.
    pub(super) fn with(table: Arc<dyn Rows>, reason: Option<&'static str>) -> Self {
        Self { tables: vec![table], reason, plot: None, drawn: None }
    }

    /// The same with a further table.
    #[must_use]
    pub fn and<R: Send + Sync>(mut self, table: &'static Table<Vec<R>>, rows: Vec<R>) -> Self {
        self.tables.push(table.of(&Arc::new(rows)));
        self
    }

    /// The same with a further table, whose rows are made when they are first asked for.
    #[must_use]
    pub(super) fn and_later<R: Send + Sync>(
        mut self,
        table: &'static Table<Vec<R>>,
        make: impl FnOnce() -> Vec<R> + Send + 'static,
    ) -> Self {
        self.tables.push(table.later(make));
        self
    }

    /// Answers about the traces of these ranks as one.
    pub(super) fn stacked(ranks: &[Option<i64>], answers: &[Self]) -> Self {
        let places: Vec<_> = ranks.iter().copied().zip(windows(ranks)).collect();
        let tables = (0..answers.first().map_or(0, |answer| answer.tables.len())).filter_map(|table| {
            let tables = answers.iter().filter_map(|answer| answer.tables.get(table));
            let part = |((rank, window), rows_of): (&(Option<i64>, i64), &Arc<dyn Rows>)| Part {
                rank: *rank,
                window: *window,
                rows_of: Arc::clone(rows_of),
            };
            let stacked: Arc<dyn Rows> = Arc::new(Stacked::new(places.iter().zip(tables).map(part).collect())?);
            Some(stacked)
        });
        let has_rows = answers.iter().any(|answer| answer.reason.is_none());
        let reason = answers.iter().find_map(|answer| answer.reason).filter(|_| !has_rows);
        let (plot, drawn) = answers.first().map_or((None, None), |answer| (answer.plot, answer.drawn));
        Self { tables: tables.collect(), reason, plot, drawn }
    }

    /// The same with how the first table is drawn.
    #[must_use]
    pub fn drawn(mut self, plot: Plot) -> Self {
        self.plot = Some(plot);
        self
    }

    /// The same with how a table beside the first is drawn in its place.
    #[must_use]
    pub fn drawn_from(mut self, table: &'static str, plot: Plot) -> Self {
        self.drawn = Some(table);
        self.drawn(plot)
    }
}

impl Analysis {
    /// Answers a request: a JSON object of what part of the trace is looked at and of options, all of which may be
    /// missing.
    ///
    /// The part is `start_ns` and `end_ns` (as the tables count time), `iteration` (the number of a `ProfilerStep#n`),
    /// `stream`, `launched_inside` (leave out device events whose launch is outside of the range) and `whole` (take events
    /// that begin in the range, and device work that is launched in it, as a whole). An error says what there is instead
    /// of what was asked for.
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
    pub fn answer(&self, linked: &Arc<LinkedTrace>, request: &str) -> Result<Answer, Error> {
        let (wanted, options) = asked(self.options, request)?;
        self.answer_about(linked, &wanted, &options)
    }

    /// Answers about a part of a trace, which is all there is of its job.
    pub(crate) fn answer_about(
        &self,
        linked: &Arc<LinkedTrace>,
        wanted: &Wanted,
        options: &Options,
    ) -> Result<Answer, Error> {
        match self.run {
            Run::Trace(run) => Ok(run(&Selection::of(linked, wanted)?, options)),
            Run::Ranks(run, _) => Ok(run(
                &Job::of(&[(linked.trace.rank(), Arc::clone(linked))], &|_| wanted.clone(), options, 1)?,
                options,
            )),
        }
    }

    /// Answers the same request about the traces of a job, each with its rank, on as many threads as may be made.
    ///
    /// What is looked at is looked at in each trace. Tables of an analysis of one trace get the columns `rank` and
    /// `window` before the others.
    pub fn answer_of_job(&self, traces: &[RankedTrace], request: &str, max_threads: usize) -> Result<Answer, Error> {
        let (wanted, options) = asked(self.options, request)?;
        self.answer_about_each(traces, &|_| wanted.clone(), &options, max_threads)
    }

    /// Answers about a part of each trace of a job.
    pub(crate) fn answer_about_each(
        &self,
        traces: &[RankedTrace],
        wanted: &dyn Fn(usize) -> Wanted,
        options: &Options,
        max_threads: usize,
    ) -> Result<Answer, Error> {
        match self.run {
            Run::Ranks(run, _) => Ok(run(&Job::of(traces, wanted, options, max_threads)?, options)),
            Run::Trace(run) => {
                let parts = selections(traces, wanted)?;
                let ranks: Vec<_> = traces.iter().map(|(rank, _)| *rank).collect();
                let answer = |at: usize| {
                    let answer = run(&parts[at], options);
                    // Their number is asked for soon; what is made for that had better be made here.
                    for table in &answer.tables {
                        let _ = table.num_rows();
                    }
                    answer
                };
                Ok(Answer::stacked(&ranks, &each(max_threads, parts.len(), answer)))
            }
        }
    }
}

/// What a request names: a part of the trace, and options of these.
pub(super) fn asked(options: &'static [OptionDoc], request: &str) -> Result<(Wanted, Options), Error> {
    let mut asked =
        serde_json::from_str(request).map_err(|error| unlike("a JSON object of options", &error.to_string()))?;
    Ok((Wanted::take(&mut asked)?, Options::new(options, asked)?))
}
