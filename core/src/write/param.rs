//! Writes collectives for PARAM (`comm_replay --trace-type basic`): a JSON list of operations.

use std::io;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::link::{Collective, Collectives, LinkedTrace};
use crate::trace::collective::CollectivePattern;
use crate::trace::group::GroupRanks;

/// An operation with the keys that PARAM reads. Unknown values have no key.
#[derive(Debug, Default, Serialize)]
struct ParamOperation<'a> {
    comms: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    req: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_msg_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_msg_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_split: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_split: Option<&'a RawValue>,
    #[serde(rename = "startTime_ns", skip_serializing_if = "Option::is_none")]
    start_time_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pg_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    world_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    src_rank: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dst_rank: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    use_batch: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    global_ranks: Option<Vec<i64>>,
}

/// Counts of written and skipped collectives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ParamCounts {
    /// Operations in the file.
    pub num_operations: u64,
    /// Collectives without a name or a recorded call: they cannot be replayed.
    pub num_left_out: u64,
}

/// Writes the process groups (`init`), communications and waits of a trace, in the order of their
/// calls.
///
/// `req` is the sequence number within a group; a wait has the `req` and the `pg_id` of its
/// collective, if known. Sizes are elements; `startTime_ns` counts from the first call. Groups
/// without a numeric name have no `pg_id`, as in PARAM.
///
/// # Errors
/// Those of `out`.
pub fn write_param_comms(linked: &LinkedTrace, out: &mut dyn io::Write) -> io::Result<ParamCounts> {
    let found = linked.collectives();
    let mut calls: Vec<ParamCall<'_>> = found.rows.iter().map(|row| ParamCall { row, of: row }).collect();
    calls.extend(found.waits.iter().map(|wait| {
        let of = wait.collective.and_then(|row| found.rows.get(row as usize));
        ParamCall { row: &wait.call, of: of.unwrap_or(&wait.call) }
    }));
    calls.sort_by_key(|call| call.row.order(linked));
    let num_calls = calls.len() as u64;
    calls.retain(|call| call.row.pattern.is_some() && (call.row.event.is_some() || call.row.node.is_some()));
    let start = |call: &ParamCall<'_>| Some(linked.trace.events.start[call.row.event? as usize].0);
    let first = calls.iter().find_map(start).unwrap_or(0);
    let mut counts = ParamCounts { num_operations: 0, num_left_out: num_calls - calls.len() as u64 };
    let operations = inits(linked, found).into_iter().chain(calls.iter().map(|call| {
        let start_time_ns = start(call).map(|start| start.saturating_sub(first));
        ParamOperation { start_time_ns, ..call.operation(linked) }
    }));
    for operation in operations {
        out.write_all(if counts.num_operations == 0 { b"[\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &operation)?;
        counts.num_operations += 1;
    }
    out.write_all(if counts.num_operations == 0 { b"[]\n" } else { b"\n]\n" })?;
    out.flush()?;
    Ok(counts)
}

/// A call, and the collective of its numbers: itself, or the awaited one.
struct ParamCall<'a> {
    row: &'a Collective,
    of: &'a Collective,
}

impl<'a> ParamCall<'a> {
    fn operation(&self, linked: &LinkedTrace) -> ParamOperation<'a> {
        let (row, facts) = (self.row, &self.row.facts);
        let name = row.name.as_deref().unwrap_or_default();
        let group = self.of.group.and_then(|group| linked.process_groups().get(group as usize));
        let common = ParamOperation {
            comms: name,
            req: facts.seq,
            pg_id: group.and_then(|group| number(&group.name)),
            // The group in a wait's record is unreliable.
            world_size: self.of.facts.group_size.filter(|_| self.of.pattern != Some(CollectivePattern::Wait)),
            ..ParamOperation::default()
        };
        if !row.pattern.is_some_and(CollectivePattern::has_message) {
            return common;
        }
        ParamOperation {
            in_msg_size: facts.in_elems,
            out_msg_size: facts.out_elems,
            dtype: facts.dtype.as_deref(),
            in_split: split(facts.in_split.as_deref(), name),
            out_split: split(facts.out_split.as_deref(), name),
            root: row.root_rank,
            src_rank: row.src_rank,
            dst_rank: row.dst_rank,
            use_batch: row.is_p2p().and_then(|is_p2p| is_p2p.then_some(false)),
            ..common
        }
    }
}

/// Only one collective needs splits.
fn split<'a>(split: Option<&'a str>, name: &str) -> Option<&'a RawValue> {
    serde_json::from_str(split.filter(|_| name == "all_to_allv")?).ok()
}

fn number(name: &str) -> Option<i64> {
    name.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.parse().ok())?
}

/// So many ranks are listed at most for groups that only tell their size.
const MAX_RANKS: i64 = 1 << 20;

/// An operation for each process group that has a number for a name.
fn inits(linked: &LinkedTrace, found: &Collectives) -> Vec<ParamOperation<'static>> {
    let mut left = MAX_RANKS;
    let mut inits: Vec<ParamOperation<'static>> = Vec::new();
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
            comms: "init",
            req: Some(-1),
            pg_id: Some(id),
            world_size: group.size.or_else(|| Some(ranks.as_ref()?.size())),
            global_ranks: ranks.map(|ranks| ranks.iter().collect()),
            ..ParamOperation::default()
        });
    }
    inits
}
