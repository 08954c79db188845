//! Analyses jobs whose traces are held by workers.
//!
//! An analysis of one trace runs on its worker, and its tables travel. An analysis across ranks
//! runs on the coordinator, from the [collectives](crate::edit::communications) of all ranks;
//! [queries](super::query) fetch the rest in rounds.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::analysis::{Analysis, CrossRank, Run, parse_request};
use super::job::{Job, RankedTrace};
use super::options::{Options, unexpected};
use super::query::{PackedReply, Query, Reply, decode, encode};
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::table::{PackedTable, PartKey};
use crate::trace::Trace;

/// The packed result of one trace.
#[derive(Serialize, Deserialize)]
struct PackedResult {
    reason: Option<String>,
    /// The number of ranks that the trace states.
    num_ranks: Option<i64>,
    /// Whether the device's time is drawn.
    has_device: bool,
    tables: Vec<PackedTable>,
}

impl Analysis {
    /// The source of a result for a job: the results of each `one` of its traces, or a comparison
    /// of its `ranks`.
    pub fn kind(&self) -> &'static str {
        match self.run {
            Run::Trace(_) | Run::TraceAndJob(..) => "one",
            Run::Ranks(_) => "ranks",
        }
    }

    /// The answer about one trace, to be put together with those about others of its job. Errors as
    /// those of [`answer`](Self::answer).
    pub fn packed_answer(&self, linked: &Arc<LinkedTrace>, request: &str) -> Result<Vec<u8>, Error> {
        let (wanted, options) = parse_request(self.options, request)?;
        // Another trace of the job may have the part.
        let answer = self.answer_about(linked, &wanted.lenient(), &options)?;
        let tables = answer.tables.iter().map(|table| PackedTable::of(&**table)).collect();
        let has_device = answer.plot.is_some_and(|plot| plot.is_of_device());
        let (reason, num_ranks) = (answer.reason.map(Cow::into_owned), linked.trace.num_ranks());
        packed(&PackedResult { reason, num_ranks, has_device, tables })
    }

    /// The answer about the traces of these ranks, of the packed answers about each. An error where
    /// one of them is no such answer.
    pub fn answer_of_packed(&self, answers: &[(Option<i64>, Vec<u8>)], request: &str) -> Result<AnalysisResult, Error> {
        let (Run::Trace(run) | Run::TraceAndJob(run, _)) = self.run else {
            return Err(unexpected("an analysis of one trace", self.name));
        };
        let (wanted, options) = parse_request(self.options, request)?;
        let like = run_on_nothing(run, &options);
        let like = if wanted.by_phase { AnalysisResult::stacked_by(&[PartKey::Phase("")], &[like]) } else { like };
        let (mut stated, mut found) = (Vec::new(), Vec::new());
        for (rank, bytes) in answers {
            let (num_ranks, answer) = unpacked_answer(&like, bytes)?;
            stated.push((*rank, num_ranks));
            found.push(answer);
        }
        Ok(self.stacked(&stated, found))
    }

    /// Plans the next queries to each trace of a job, from the replies so far. Each item is empty
    /// where its trace gets no query; all are empty when the analysis knows enough. The traces hold
    /// collectives alone.
    ///
    /// # Errors
    /// When a reply comes from another version or another analysis.
    pub fn plan(&self, traces: &[RankedTrace], replies: &[Vec<Vec<u8>>], request: &str) -> Result<Vec<Vec<u8>>, Error> {
        let ranks = self.across_ranks()?;
        let (job, options) = self.remote_job(traces, replies, request)?;
        let mut queries = (ranks.plan)(&job, &options)?;
        queries.resize_with(traces.len(), Vec::new);
        queries.iter().map(|queries| if queries.is_empty() { Ok(Vec::new()) } else { packed(queries) }).collect()
    }

    /// Answers planned queries on the worker that holds the trace.
    ///
    /// # Errors
    /// When the queries come from another version or another analysis.
    pub fn respond(&self, linked: &Arc<LinkedTrace>, queries: &[u8], request: &str) -> Result<Vec<u8>, Error> {
        let ranks = self.across_ranks()?;
        let (wanted, options) = parse_request(self.options, request)?;
        let selection = Selection::of(linked, &wanted)?;
        let queries: Vec<Query> = unpacked(queries)?;
        let replies = queries.iter().map(|query| query.respond(ranks.queries, &selection, &options));
        packed(&replies.collect::<Result<Vec<_>, _>>()?)
    }

    /// The result for a job, from the collectives of all traces and the replies of their workers.
    ///
    /// # Errors
    /// As those of [`plan`](Self::plan).
    pub fn answer_of_replies(
        &self,
        traces: &[RankedTrace],
        replies: &[Vec<Vec<u8>>],
        request: &str,
    ) -> Result<AnalysisResult, Error> {
        let ranks = self.across_ranks()?;
        let (job, options) = self.remote_job(traces, replies, request)?;
        Ok((ranks.compare)(&job, &options))
    }

    fn remote_job<'a>(
        &self,
        traces: &'a [RankedTrace],
        replies: &[Vec<Vec<u8>>],
        request: &str,
    ) -> Result<(Job<'a>, Options), Error> {
        let kinds = self.across_ranks()?.queries;
        let (wanted, options) = parse_request(self.options, request)?;
        if wanted.part.is_by_name() || wanted.by_phase {
            let expected = "a range, an iteration or a stream, as workers hold the traces";
            return Err(unexpected(expected, "a part by name"));
        }
        let mut job = Job::of(traces, &|_| wanted.clone(), &options, 1)?;
        let of_trace = |rounds: &Vec<Vec<u8>>| -> Result<Vec<Reply>, Error> {
            let rounds = rounds.iter().map(|bytes| unpacked::<Vec<PackedReply>>(bytes));
            let rounds = rounds.collect::<Result<Vec<_>, _>>()?;
            rounds.iter().flatten().map(|reply| reply.read(kinds)).collect()
        };
        let mut replies = replies.iter().map(of_trace).collect::<Result<Vec<_>, _>>()?;
        replies.resize_with(traces.len(), Vec::new);
        job.replies = Some(replies);
        Ok((job, options))
    }

    fn across_ranks(&self) -> Result<CrossRank, Error> {
        let Run::Ranks(ranks) = self.run else { return Err(unexpected("an analysis that compares ranks", self.name)) };
        Ok(ranks)
    }
}

fn run_on_nothing(run: fn(&Selection<'_>, &Options) -> AnalysisResult, options: &Options) -> AnalysisResult {
    run(&Selection::all(&Arc::new(LinkedTrace::new(Trace::default()))), options)
}

/// The answer about a trace, and the number of ranks that the trace states.
fn unpacked_answer(like: &AnalysisResult, bytes: &[u8]) -> Result<(Option<i64>, AnalysisResult), Error> {
    let found: PackedResult = unpacked(bytes)?;
    if found.tables.len() != like.tables.len() {
        return Err(unexpected(&format!("{} tables", like.tables.len()), &found.tables.len().to_string()));
    }
    let tables = found.tables.into_iter().zip(&like.tables).map(|(table, like)| table.unpacked(like));
    let tables = tables.collect::<Result<_, _>>()?;
    let plot = like.plot.map(|plot| plot.with_device(found.has_device));
    let answer = AnalysisResult { tables, reason: found.reason.map(Cow::Owned), plot, drawn: like.drawn };
    Ok((found.num_ranks, answer))
}

/// Encodes and compresses a value: names of events repeat.
pub(crate) fn packed<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(&encode(value)?).and_then(|()| encoder.finish());
    written.map_err(|error| unexpected("a value that can be serialized", &error.to_string()))
}

/// Decompresses and decodes a value.
pub(crate) fn unpacked<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let mut plain = Vec::new();
    let read = DeflateDecoder::new(bytes).read_to_end(&mut plain);
    read.map_err(|error| {
        unexpected(
            "data from the same kinetoscope version (use one version for coordinator and \
         workers)",
            &error.to_string(),
        )
    })?;
    decode(&plain)
}
