//! Answers about a job whose traces are elsewhere: each is asked where it lies, and what it says is put together here.
//!
//! An analysis of one trace answers there, and its tables travel. One that compares ranks does so by their
//! [communications](crate::edit::communications); what else it has to know is [asked](Question) of them, in rounds, until
//! there is nothing left to ask.

use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

use super::analysis::{Analysis, Answer, Ask, Run, asked};
use super::critical_path::{LegBounds, PathRow, Stops};
use super::finding::{Computing, Seen};
use super::job::{Job, RankedTrace};
use super::options::{Options, unlike};
use super::selection::Selection;
use super::straggler::{Doing, Way, doings};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::table::Packed;
use crate::trace::Trace;

type Compare = fn(&Job<'_>, &Options) -> Answer;

/// What a rank is asked about its trace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Question {
    /// What it did on its ways to communications.
    Ways(Vec<Way>),
    /// What slows it down.
    Seen,
    /// How much it computed.
    Computing,
    /// Where the legs of the path through all ranks begin, of those that end in these.
    Stops(LegBounds, Vec<u32>),
    /// These legs themselves.
    Legs(LegBounds, Vec<Option<u32>>),
}

/// What it says to each of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Told {
    /// To its ways.
    Doings(Vec<Doing>),
    /// To what slows it down.
    Seen(Seen),
    /// To how much it computed.
    Computing(Computing),
    /// To where legs begin.
    Stops(Stops),
    /// To the legs, each from its end to its start.
    Legs(Vec<Vec<PathRow>>),
}

/// What travels of the answer about one trace.
#[derive(Serialize, Deserialize)]
struct PackedAnswer {
    reason: Option<String>,
    /// Whether the device's time is drawn.
    has_device: bool,
    tables: Vec<Packed>,
}

impl Analysis {
    /// What an answer about a job is made of: answers about each `one` of its traces, or what its `ranks` have in common.
    pub fn kind(&self) -> &'static str {
        match self.run {
            Run::Trace(_) => "one",
            Run::Ranks(..) => "ranks",
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

    /// What is to be asked of each trace next, before its job can be answered about, given what was told so far: no bytes of
    /// whom nothing is. The traces hold communications alone; an error where something else was told.
    pub fn questions(
        &self,
        traces: &[RankedTrace],
        told: &[Vec<Vec<u8>>],
        request: &str,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let (_, ask) = self.of_ranks()?;
        let (job, options) = self.far_job(traces, told, request)?;
        let mut questions = ask.map(|ask| ask(&job, &options)).unwrap_or_default();
        questions.resize_with(traces.len(), Vec::new);
        questions.iter().map(|asked| if asked.is_empty() { Ok(Vec::new()) } else { packed(asked) }).collect()
    }

    /// What a trace says to that.
    pub fn told(&self, linked: &Arc<LinkedTrace>, questions: &[u8], request: &str) -> Result<Vec<u8>, Error> {
        let (wanted, options) = asked(self.options, request)?;
        let part = Selection::of(linked, &wanted)?;
        let questions: Vec<Question> = unpacked(questions)?;
        packed(&questions.into_iter().map(|question| question.told(&part, &options)).collect::<Vec<_>>())
    }

    /// The answer about a job of traces that hold communications alone, with what was told of each.
    pub fn answer_of_told(
        &self,
        traces: &[RankedTrace],
        told: &[Vec<Vec<u8>>],
        request: &str,
    ) -> Result<Answer, Error> {
        let (run, _) = self.of_ranks()?;
        let (job, options) = self.far_job(traces, told, request)?;
        Ok(run(&job, &options))
    }

    fn far_job<'a>(
        &self,
        traces: &'a [RankedTrace],
        told: &[Vec<Vec<u8>>],
        request: &str,
    ) -> Result<(Job<'a>, Options), Error> {
        let (wanted, options) = asked(self.options, request)?;
        let mut job = Job::of(traces, &|_| wanted.clone(), &options, 1)?;
        let of_one = |rounds: &Vec<Vec<u8>>| -> Result<Vec<Told>, Error> {
            let rounds = rounds.iter().map(|bytes| unpacked::<Vec<Told>>(bytes)).collect::<Result<Vec<_>, _>>()?;
            Ok(rounds.into_iter().flatten().collect())
        };
        let mut told = told.iter().map(of_one).collect::<Result<Vec<_>, _>>()?;
        told.resize_with(traces.len(), Vec::new);
        job.told = Some(told);
        Ok((job, options))
    }

    fn of_ranks(&self) -> Result<(Compare, Option<Ask>), Error> {
        let Run::Ranks(run, ask) = self.run else { return Err(unlike("an analysis that compares ranks", self.name)) };
        Ok((run, ask))
    }
}

impl Question {
    fn told(self, part: &Selection<'_>, options: &Options) -> Told {
        match self {
            Self::Ways(ways) => Told::Doings(doings(part, ways)),
            Self::Seen => Told::Seen(Seen::of(part, options.number("min_share"))),
            Self::Computing => Told::Computing(Computing::of(part)),
            Self::Stops(bounds, starts) => Told::Stops(bounds.legs(part).stops(part.linked, &starts)),
            Self::Legs(bounds, starts) => Told::Legs(bounds.legs(part).rows(part.linked, &starts)),
        }
    }
}

fn run_on_nothing(run: fn(&Selection<'_>, &Options) -> Answer, options: &Options) -> Answer {
    run(&Selection::all(&Arc::new(LinkedTrace::new(Trace::default()))), options)
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

/// Bytes that [`unpacked`] reads: names of events repeat, so they are worth compressing.
fn packed<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let plain = postcard::to_allocvec(value).map_err(|error| unlike("what can be packed", &error.to_string()))?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(&plain).and_then(|()| encoder.finish());
    written.map_err(|error| unlike("what can be packed", &error.to_string()))
}

/// What was packed. An error where that was something else.
fn unpacked<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, Error> {
    const PACKED: &str = "what was packed by the same version";
    let mut plain = Vec::new();
    DeflateDecoder::new(bytes).read_to_end(&mut plain).map_err(|error| unlike(PACKED, &error.to_string()))?;
    postcard::from_bytes(&plain).map_err(|error| unlike(PACKED, &error.to_string()))
}
