//! Answers about a job whose traces are elsewhere: each is asked where it lies, and what it says is put together here.
//!
//! An analysis of one trace answers there, and its tables travel. One that compares ranks does so by their
//! [communications](crate::edit::communications); what ranks did on their [ways](Way) to these is asked of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::analysis::{Analysis, Answer, Ask, Run, asked};
use super::job::{Job, RankedTrace};
use super::options::{Options, unlike};
use super::straggler::{Doing, Way};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::table::Packed;
use crate::trace::Trace;

type Compare = fn(&Job<'_>, &Options) -> Answer;

/// What travels of the answer about one trace.
#[derive(Serialize, Deserialize)]
struct PackedAnswer {
    reason: Option<String>,
    /// Whether the device's time is drawn.
    has_device: bool,
    tables: Vec<Packed>,
}

impl Analysis {
    /// What an answer about a job is made of: answers about each `one` of its traces, what its `ranks` have in common, or the
    /// `whole` of all.
    pub fn kind(&self) -> &'static str {
        match self.run {
            Run::Trace(_) => "one",
            Run::Ranks(..) => "ranks",
            Run::Job(_) => "whole",
        }
    }

    /// The answer about one trace, to be put together with those about others of its job. Errors as those of
    /// [`answer`](Self::answer).
    pub fn packed_answer(&self, linked: &Arc<LinkedTrace>, request: &str) -> Result<Vec<u8>, Error> {
        let answer = self.answer(linked, request)?;
        let tables = answer.tables.iter().map(|table| Packed::of(&**table)).collect();
        let has_device = answer.plot.is_some_and(|plot| plot.is_of_device());
        packed(&PackedAnswer { reason: answer.reason.map(str::to_owned), has_device, tables })
    }

    /// The answer about the traces of these ranks, of the packed answers about each, and why it has no rows, if it has none.
    /// An error where one of them is no such answer.
    pub fn answer_of_packed(
        &self,
        answers: &[(Option<i64>, Vec<u8>)],
        request: &str,
    ) -> Result<(Answer, Option<String>), Error> {
        let Run::Trace(run) = self.run else { return Err(unlike("an analysis of one trace", self.name)) };
        let (_, options) = asked(self.options, request)?;
        let like = run_on_nothing(run, &options);
        let (mut ranks, mut found, mut reason) = (Vec::new(), Vec::new(), None);
        for (rank, bytes) in answers {
            let (answer, why) = unpacked_answer(&like, bytes)?;
            ranks.push(*rank);
            found.push(answer);
            reason = reason.or(why);
        }
        let has_rows = |answer: &Answer| answer.tables.first().is_some_and(|table| table.num_rows() > 0);
        let reason = reason.filter(|_| !found.iter().any(has_rows));
        Ok((Answer::stacked(&ranks, &found), reason))
    }

    /// What is to be asked of each trace before its job can be answered about: ways to communications, of traces that hold
    /// these alone.
    pub fn ways(&self, traces: &[RankedTrace], request: &str) -> Result<Vec<Vec<Way>>, Error> {
        let (_, ask) = self.of_ranks()?;
        let (wanted, options) = asked(self.options, request)?;
        let Some(ask) = ask else { return Ok(vec![Vec::new(); traces.len()]) };
        Ok(ask(&Job::of(traces, &|_| wanted.clone(), &options, 1)?, &options))
    }

    /// The answer about a job of traces that hold communications alone, with what was told of the ways to them.
    pub fn answer_of_told(
        &self,
        traces: &[RankedTrace],
        told: Vec<Vec<Doing>>,
        request: &str,
    ) -> Result<Answer, Error> {
        let (run, _) = self.of_ranks()?;
        let (wanted, options) = asked(self.options, request)?;
        let mut job = Job::of(traces, &|_| wanted.clone(), &options, 1)?;
        job.told = Some(told);
        Ok(run(&job, &options))
    }

    fn of_ranks(&self) -> Result<(Compare, Option<Ask>), Error> {
        let Run::Ranks(run, ask) = self.run else { return Err(unlike("an analysis that compares ranks", self.name)) };
        Ok((run, ask))
    }
}

fn run_on_nothing(run: fn(&super::Selection<'_>, &Options) -> Answer, options: &Options) -> Answer {
    run(&super::Selection::all(&Arc::new(LinkedTrace::new(Trace::default()))), options)
}

fn unpacked_answer(like: &Answer, bytes: &[u8]) -> Result<(Answer, Option<String>), Error> {
    let found: PackedAnswer = unpacked(bytes)?;
    if found.tables.len() != like.tables.len() {
        return Err(unlike(&format!("{} tables", like.tables.len()), &found.tables.len().to_string()));
    }
    let tables = found.tables.into_iter().zip(&like.tables).map(|(table, like)| table.unpacked(like));
    let tables = tables.collect::<Result<_, _>>()?;
    let plot = like.plot.map(|plot| plot.with_device(found.has_device));
    Ok((Answer { tables, reason: None, plot, drawn: like.drawn }, found.reason))
}

/// Bytes that [`unpacked`] reads.
pub fn packed<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    postcard::to_allocvec(value).map_err(|error| unlike("what can be packed", &error.to_string()))
}

/// What was packed. An error where that was something else.
pub fn unpacked<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    postcard::from_bytes(bytes).map_err(|error| unlike("what was packed by the same version", &error.to_string()))
}
