//! Writes collectives for PARAM (`comm_replay --trace-type basic`): a JSON list of operations.

use std::io;

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::call::{RecordedCall, ReplayCall};
use super::param_message::{NoMessage, ParamMessage, ParamSource};
use crate::link::{Collectives, LinkedTrace};
use crate::sort;
use crate::trace::collective::CollectivePattern;
use crate::trace::group::{GroupRanks, ProcessGroup};

/// An operation with the keys that PARAM reads. Unknown optional values have no key.
#[derive(Debug, Default, Serialize)]
struct ParamOperation {
    comms: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    req: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_msg_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_msg_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_split: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_split: Option<Vec<i64>>,
    #[serde(rename = "startTime_ns", skip_serializing_if = "Option::is_none")]
    start_time_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pg_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    world_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<i64>,
    #[serde(flatten)]
    ends: Option<ParamEnds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    global_ranks: Option<Vec<i64>>,
}

/// The ends of a send or a receive. PARAM needs all keys; a receive from any rank has a null.
#[derive(Debug, Serialize)]
struct ParamEnds {
    src_rank: Option<i64>,
    dst_rank: Option<i64>,
    use_batch: bool,
}

/// Counts of written and skipped collectives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ParamCounts {
    /// Operations in the file.
    pub num_operations: u64,
    /// Collectives without a name or a recorded call: they cannot be replayed.
    pub num_left_out: u64,
    /// Collectives without a recorded size, type or split, which PARAM needs.
    pub num_unsized: u64,
    /// Collectives that raised an error, so that they never ran.
    pub num_failed: u64,
    /// Collectives that are written without a group, although the job has several.
    pub num_groupless: u64,
}

/// So many parts of exchanges are listed at most: a small file may claim groups of any size.
const MAX_PARTS: usize = 1 << 23;

/// The operation that starts a batch of sends and receives.
const BATCH: &str = "batch_isend_irecv";

/// Writes the process groups (`init`), communications and waits of a trace, in the order of their
/// calls.
///
/// `req` is the sequence number within a group; a wait has the `req` and the `pg_id` of its
/// collective, if known. Sizes and splits are elements; `startTime_ns` counts from the first call.
/// Groups without a numeric name have no `pg_id`, as in PARAM.
///
/// # Errors
/// Those of `out`.
pub fn write_param_comms(linked: &LinkedTrace, out: &mut dyn io::Write) -> io::Result<ParamCounts> {
    write_param_collectives(linked, linked.collectives(), out)
}

/// Writes collectives, whose groups other ranks told, as [`write_param_comms`] does.
///
/// # Errors
/// Those of `out`.
pub fn write_param_collectives(
    linked: &LinkedTrace,
    found: &Collectives,
    out: &mut dyn io::Write,
) -> io::Result<ParamCounts> {
    let mut writer = ParamWriter::new(linked, found);
    for source in sources(linked, found) {
        writer.add(&source);
    }
    let ParamWriter { mut operations, mut counts, .. } = writer;
    let first = operations.iter().find_map(|operation| operation.start_time_ns).unwrap_or(0);
    for operation in &mut operations {
        operation.start_time_ns = operation.start_time_ns.map(|start| start.saturating_sub(first));
    }
    for operation in inits(linked, found).into_iter().chain(operations) {
        out.write_all(if counts.num_operations == 0 { b"[\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &operation)?;
        counts.num_operations += 1;
    }
    out.write_all(if counts.num_operations == 0 { b"[]\n" } else { b"\n]\n" })?;
    out.flush()?;
    Ok(counts)
}

/// Communications and waits in the order of their calls; without the runs of backends' own threads,
/// where the operators that requested them are recorded.
fn sources<'a>(linked: &LinkedTrace, found: &'a Collectives) -> Vec<RecordedCall<'a>> {
    let rows = (0_u32..).zip(&found.rows).map(|(at, row)| RecordedCall { row, of: None, at: Some(at) });
    let waits = found.waits.iter().map(|wait| RecordedCall { row: &wait.call, of: wait.collective, at: None });
    let mut sources: Vec<_> = rows.chain(waits).collect();
    if sources.iter().any(|source| source.at.is_some() && !source.is_run(linked)) {
        sources.retain(|source| !source.is_run(linked));
    }
    sort::by_key(&mut sources, |source| source.row.order(linked));
    sources
}

struct ParamWriter<'a> {
    linked: &'a LinkedTrace,
    found: &'a Collectives,
    /// The only process group, which all calls are of.
    only_group: Option<&'a ProcessGroup>,
    /// Whether a call without a group may be of several.
    has_groups: bool,
    operations: Vec<ParamOperation>,
    counts: ParamCounts,
    /// So many parts of exchanges may still be listed.
    num_parts_left: usize,
}

impl<'a> ParamWriter<'a> {
    fn new(linked: &'a LinkedTrace, found: &'a Collectives) -> Self {
        let groups = linked.process_groups();
        let only_group = groups.first().filter(|first| groups.iter().all(|group| group.name == first.name));
        let (operations, counts) = (Vec::new(), ParamCounts::default());
        // Both files list a group, each in its own words.
        let known: FxHashSet<_> = (0..groups.len()).map(|at| found.groups.ranks(at as u32)).collect();
        let has_groups = known.len() > 1;
        Self { linked, found, only_group, has_groups, operations, counts, num_parts_left: MAX_PARTS }
    }

    fn add(&mut self, source: &RecordedCall<'a>) {
        if source.at.is_some() && source.row.is_failed {
            self.counts.num_failed += 1;
            return;
        }
        let is_called = source.row.event.is_some() || source.row.node.is_some() || source.row.run.is_some();
        let call = source.call(self.linked).filter(|_| is_called);
        let Some((call, pattern)) = call.zip(source.row.pattern) else {
            self.counts.num_left_out += 1;
            return;
        };
        let operation = self.common(source, &call);
        let is_groupless = source.row.ranks.is_none() && source.row.facts.group_name.is_none() && !pattern.is_p2p();
        self.counts.num_groupless += u64::from(self.has_groups && is_groupless && source.at.is_some());
        if pattern == CollectivePattern::Coalesced {
            self.close_batch(operation);
        } else if !pattern.has_message() {
            self.operations.push(operation);
        } else {
            let num_ranks = operation.world_size;
            let source = ParamSource { row: source.row, call: &call, pattern, num_ranks, own: self.found.rank };
            let name = param_name(&call);
            match source.message(&name).and_then(|message| self.counted(message)) {
                Ok(message) => self.operations.push(with_message(operation, name, source, message)),
                Err(NoMessage::Unrecorded) => self.counts.num_unsized += 1,
                Err(NoMessage::Impossible) => self.counts.num_failed += 1,
            }
        }
    }

    /// A message, if its parts may be listed.
    fn counted(&mut self, message: ParamMessage) -> Result<ParamMessage, NoMessage> {
        let num_parts = message.splits.iter().flatten().map(Vec::len).sum();
        self.num_parts_left = self.num_parts_left.checked_sub(num_parts).ok_or(NoMessage::Unrecorded)?;
        Ok(message)
    }

    /// The facts that every operation has.
    fn common(&self, source: &RecordedCall<'a>, call: &ReplayCall) -> ParamOperation {
        let of = source.of.and_then(|of| self.found.rows.get(of as usize)).unwrap_or(source.row);
        let group = of.group.and_then(|group| self.linked.process_groups().get(group as usize)).or(self.only_group);
        // The group in a wait's record is unreliable.
        let size = of.facts.group_size.filter(|_| of.pattern != Some(CollectivePattern::Wait));
        ParamOperation {
            comms: call.collective.clone(),
            req: source.row.facts.seq,
            pg_id: group.and_then(|group| number(&group.name)),
            world_size: size.or_else(|| group?.size).filter(|size| *size > 0),
            start_time_ns: call.start_ns,
            ..ParamOperation::default()
        }
    }

    /// Makes the sends and receives right before it a batch. Other calls that were started as one
    /// stay: PARAM has no operation for them.
    fn close_batch(&mut self, operation: ParamOperation) {
        let mut num_batched = 0;
        for ends in self.operations.iter_mut().rev().map_while(|operation| operation.ends.as_mut()) {
            if ends.use_batch {
                break;
            }
            ends.use_batch = true;
            num_batched += 1;
        }
        if num_batched > 0 {
            self.operations.push(ParamOperation { comms: String::from(BATCH), ..operation });
        }
    }
}

/// The name that PARAM knows: uneven exchanges are `all_to_allv`.
fn param_name(call: &ReplayCall) -> String {
    let is_uneven = !call.message.in_split.is_empty() || !call.message.out_split.is_empty();
    if call.collective == "all_to_all" && is_uneven { String::from("all_to_allv") } else { call.collective.clone() }
}

fn with_message(
    operation: ParamOperation,
    name: String,
    source: ParamSource<'_>,
    message: ParamMessage,
) -> ParamOperation {
    let (in_split, out_split) = message.splits.map_or((None, None), |[given, taken]| (Some(given), Some(taken)));
    let ends = || ParamEnds { src_rank: source.row.src_rank, dst_rank: source.row.dst_rank, use_batch: false };
    ParamOperation {
        comms: name,
        in_msg_size: Some(message.in_elems),
        out_msg_size: Some(message.out_elems),
        dtype: Some(message.dtype),
        in_split,
        out_split,
        root: source.row.root_rank,
        ends: source.pattern.is_p2p().then(ends),
        ..operation
    }
}

fn number(name: &str) -> Option<i64> {
    name.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.parse().ok())?
}

/// So many ranks are listed at most for groups that only tell their size.
const MAX_RANKS: i64 = 1 << 20;

/// An operation for each process group that has a number for a name.
fn inits(linked: &LinkedTrace, found: &Collectives) -> Vec<ParamOperation> {
    let mut left = MAX_RANKS;
    let mut inits: Vec<ParamOperation> = Vec::new();
    for (at, group) in linked.process_groups().iter().enumerate() {
        let is_known = |id: &i64| found.groups.of(Some(&group.name), None) == Some(at as u32) && *id >= 0;
        let Some(id) = number(&group.name).filter(is_known) else { continue };
        let ranks = found.groups.ranks(at as u32).filter(|ranks| match **ranks {
            GroupRanks::Listed(_) => true,
            GroupRanks::All(size) => {
                left = left.saturating_sub(size);
                left >= 0
            }
        });
        inits.push(ParamOperation {
            comms: String::from("init"),
            req: Some(-1),
            pg_id: Some(id),
            world_size: group.size.or_else(|| Some(ranks.as_ref()?.size())),
            global_ranks: ranks.map(|ranks| ranks.iter().collect()),
            ..ParamOperation::default()
        });
    }
    inits
}
