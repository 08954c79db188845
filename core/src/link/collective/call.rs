//! Groups events or nodes of one collective call: operator, record, annotation, and backend run.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::column::OptionalColumn;
use crate::sort;
use crate::trace::collective::{CollectivePattern, known};
use crate::vendor::is_backend;

/// The role of a row in a collective, from the outermost to the innermost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallRole {
    /// `c10d::allreduce_` or a functional operator around it.
    Operator,
    /// `record_param_comms`.
    Record,
    /// `nccl:all_reduce`: the call as its backend names it.
    Annotation,
    /// `gloo:all_reduce`: the communication itself, on a thread of the backend's.
    Run,
}

/// A row that is part of a communication.
#[derive(Debug, Clone, Copy)]
pub(super) struct CollectiveRow {
    pub(super) row: u32,
    pub(super) role: CallRole,
    pub(super) pattern: Option<CollectivePattern>,
    /// Whether it is an operator that calls one of `c10d`, which calls no other.
    is_functional: bool,
}

impl CollectiveRow {
    /// Whether ranks communicate in it.
    fn communicates(self) -> bool {
        !matches!(self.pattern, Some(CollectivePattern::Wait | CollectivePattern::Init))
    }
}

/// The parts of one call, from the outermost to the innermost.
pub(super) type CollectiveCall = Vec<CollectiveRow>;

/// The role that a name means.
pub(super) fn part(row: usize, name: &str) -> Option<CollectiveRow> {
    let role = match name.split_once(':') {
        _ if name == "record_param_comms" => CallRole::Record,
        Some(("c10d" | "c10d_functional" | "_c10d_functional" | "_c10d_functional_autograd", _)) => CallRole::Operator,
        Some((backend, _)) if is_backend(backend) => CallRole::Annotation,
        Some(("gloo" | "mpi", _)) => CallRole::Run,
        _ => return None,
    };
    let pattern = known(name).map(|(_, pattern)| pattern);
    let is_functional = role == CallRole::Operator && !name.starts_with("c10d:");
    let part = CollectiveRow { row: row as u32, role, pattern, is_functional };
    (role == CallRole::Record || pattern.is_some()).then_some(part)
}

/// Whether a name is that of a part of a communication.
pub(crate) fn communicates(name: &str) -> bool {
    part(0, name).is_some()
}

/// The calls of host events or of nodes, by their rows.
pub(super) struct CollectiveCalls {
    pub(super) all: Vec<CollectiveCall>,
    /// The call that each row is in.
    pub(super) of_row: OptionalColumn,
    /// Calls whose operator has several records, so that work which it launches outside of them may
    /// be of any.
    pub(super) shared: FxHashSet<u32>,
}

/// The calls of a forest of rows, and for every row the call that it is in.
///
/// `parts` are sorted so that enclosing rows come first; a row without an enclosing part starts a
/// call.
pub(super) fn calls(
    parts: &[CollectiveRow],
    num_rows: usize,
    parent: impl Fn(usize) -> Option<usize>,
) -> CollectiveCalls {
    let around = innermost(parts, num_rows, &parent);
    let mut calls: Vec<CollectiveCall> = Vec::new();
    let mut call_of: Vec<usize> = Vec::with_capacity(parts.len());
    for part in parts {
        let outer = parent(part.row as usize).and_then(|parent| around.get(parent));
        let outer = outer.and_then(|outer| call_of.get(outer as usize).copied().map(|call| (call, outer)));
        let joined = outer.filter(|(call, outer)| {
            let tail = calls[*call].last();
            tail.is_some_and(|tail| tail.row == parts[*outer as usize].row && is_one_call(*tail, *part))
        });
        let call = joined.map_or(calls.len(), |(call, _)| call);
        if call == calls.len() {
            calls.push(CollectiveCall::new());
        }
        calls[call].push(*part);
        call_of.push(call);
    }
    let shared = shared(parts, &call_of, |part| around.get(parent(part.row as usize)?));
    let mut of_row = around;
    for row in 0..num_rows {
        if let Some(part) = of_row.get(row) {
            of_row.set(row, call_of[part as usize] as u32);
        }
    }
    CollectiveCalls { all: calls, of_row, shared }
}

/// The calls of records that an operator has several of. `outer` gives the part around a part.
fn shared(parts: &[CollectiveRow], call_of: &[usize], outer: impl Fn(&CollectiveRow) -> Option<u32>) -> FxHashSet<u32> {
    let mut records: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (part, call) in parts.iter().zip(call_of).filter(|(part, _)| part.role == CallRole::Record) {
        if let Some(outer) = outer(part).filter(|outer| parts[*outer as usize].role == CallRole::Operator) {
            records.entry(outer).or_default().push(*call as u32);
        }
    }
    records.into_values().filter(|calls| calls.len() > 1).flatten().collect()
}

/// Whether an inner part says more of the same call. A record may be made twice.
fn is_one_call(outer: CollectiveRow, inner: CollectiveRow) -> bool {
    let is_again = outer.is_functional || outer.role == CallRole::Record;
    let is_inside = outer.role < inner.role || outer.role == inner.role && is_again;
    is_inside && (outer.pattern == inner.pattern || outer.pattern.is_none() || inner.pattern.is_none())
}

/// For every row the part that it is, or the innermost around it.
fn innermost(parts: &[CollectiveRow], num_rows: usize, parent: impl Fn(usize) -> Option<usize>) -> OptionalColumn {
    let mut found = OptionalColumn::empty(num_rows);
    let mut is_known = vec![false; num_rows];
    for (at, part) in parts.iter().enumerate() {
        found.set(part.row as usize, at as u32);
        is_known[part.row as usize] = true;
    }
    let mut path = Vec::new();
    for row in 0..num_rows {
        let mut next = Some(row);
        // Rows on the path count as visited, so cyclic parents end the walk.
        while let Some(here) = next.filter(|here| !is_known[*here]) {
            is_known[here] = true;
            path.push(here);
            next = parent(here);
        }
        let part = next.and_then(|here| found.get(here));
        for here in path.drain(..) {
            if let Some(part) = part {
                found.set(here, part);
            }
        }
    }
    found
}

/// The record id of a row and its thread: what tells when a call began, and where.
pub(super) type RequestPlace = (u64, u64);

/// So many threads that request communications at the same time are looked at for one run.
const MAX_REQUESTERS: usize = 16;

/// Joins runs on a backend's own threads with the operators that requested them, by record ids.
///
/// An operator requests its runs before it ends, so a run's id follows that of the latest operator
/// of some thread. Among several threads, the operator decides that still lacks its run and that
/// has the run's pattern. An operator may have several runs (`reduce_scatter` of a list).
pub(super) fn join_by_record(calls: &mut [CollectiveCall], place: impl Fn(&CollectiveRow) -> Option<RequestPlace>) {
    let mut marks: Vec<(RequestPlace, bool, usize)> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let is_lone = matches!(call[..], [CollectiveRow { role: CallRole::Run, .. }]);
        let begun = call.iter().rev().find(|part| is_lone || part.role <= CallRole::Record && part.communicates());
        marks.extend(begun.and_then(&place).map(|place| (place, is_lone, at)));
    }
    if !marks.iter().any(|(_, is_run, _)| *is_run) {
        return;
    }
    sort::ascending(&mut marks);
    let mut latest = LatestOperators::default();
    for ((id, thread), is_run, at) in marks {
        if !is_run {
            latest.put(thread, id, at);
        } else if let Some(operator) = latest.requester(id, calls[at][0].pattern, calls) {
            let run = std::mem::take(&mut calls[at]);
            calls[operator].extend(run);
        }
    }
}

/// The latest operator of each thread, by its id.
#[derive(Default)]
struct LatestOperators {
    of_thread: FxHashMap<u64, u64>,
    by_id: BTreeMap<u64, usize>,
}

impl LatestOperators {
    fn put(&mut self, thread: u64, id: u64, call: usize) {
        if let Some(before) = self.of_thread.insert(thread, id) {
            self.by_id.remove(&before);
        }
        self.by_id.insert(id, call);
    }

    /// The call that requested the run of an id.
    fn requester(&self, id: u64, run: Option<CollectivePattern>, calls: &[CollectiveCall]) -> Option<usize> {
        let likeness = |(before, call): (&u64, &usize)| {
            let has_run = calls[*call].last().is_some_and(|tail| tail.role == CallRole::Run);
            let operator = calls[*call].iter().find_map(|part| part.pattern);
            let is_alike = operator == run || is_stand_in(operator, run);
            // The next record is its own, whatever the backend makes of it.
            let is_next = before.checked_add(1) == Some(id) && !has_run;
            (is_alike || is_next).then_some(((!has_run, !has_run && operator == run, *before), *call))
        };
        let near = self.by_id.iter().rev().take(MAX_REQUESTERS).filter_map(likeness);
        near.max().map(|(_, call)| call)
    }
}

/// Whether a backend runs one pattern as another: gloo has no `reduce_scatter`.
fn is_stand_in(operator: Option<CollectivePattern>, run: Option<CollectivePattern>) -> bool {
    operator == Some(CollectivePattern::ReduceScatter) && run == Some(CollectivePattern::AllReduce)
}

/// Joins runs on a backend's own threads with the operators that requested them, where no record id
/// tells: the first of a kind with the first.
///
/// A backend works in order of requests. With unequal numbers, the missing ones are unknown.
/// `order` sorts operators and runs by request.
pub(super) fn join_by_order<K: Ord>(calls: &mut [CollectiveCall], order: impl Fn(&CollectiveRow) -> K) {
    let mut lone: BTreeMap<CollectivePattern, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (at, call) in calls.iter().enumerate() {
        if let [CollectiveRow { role: CallRole::Run, pattern: Some(pattern), .. }] = call[..] {
            lone.entry(pattern).or_default().1.push(at);
        } else if let [.., CollectiveRow { role: CallRole::Operator, pattern: Some(pattern), .. }] = call[..] {
            lone.entry(pattern).or_default().0.push(at);
        }
    }
    if lone.get(&CollectivePattern::ReduceScatter).is_some_and(|(_, runs)| runs.is_empty()) {
        let (operators, _) = lone.remove(&CollectivePattern::ReduceScatter).unwrap_or_default();
        lone.entry(CollectivePattern::AllReduce).or_default().0.extend(operators);
    }
    for (mut operators, mut runs) in lone.into_values().filter(|(operators, runs)| operators.len() == runs.len()) {
        sort::by_key(&mut operators, |at| calls[*at].first().map(&order));
        sort::by_key(&mut runs, |at| calls[*at].first().map(&order));
        for (operator, run) in operators.into_iter().zip(runs) {
            let run = std::mem::take(&mut calls[run]);
            calls[operator].extend(run);
        }
    }
}

/// Joins runs on a backend's own threads with operators by the other file, where neither has a
/// counterpart yet: `told` gives the call of a part in that file.
pub(super) fn join_by_other_file(calls: &mut [CollectiveCall], told: impl Fn(&CollectiveRow) -> Option<usize>) {
    let mut operators: FxHashMap<usize, usize> = FxHashMap::default();
    for (at, call) in calls.iter().enumerate() {
        let is_lone = matches!(call[..], [.., CollectiveRow { role: CallRole::Operator, .. }]);
        if let Some(other) = call.iter().find_map(&told).filter(|_| is_lone) {
            operators.entry(other).or_insert(at);
        }
    }
    for at in 0..calls.len() {
        let [run @ CollectiveRow { role: CallRole::Run, .. }] = calls[at][..] else { continue };
        if let Some(operator) = told(&run).and_then(|other| operators.remove(&other)) {
            calls[at].clear();
            calls[operator].push(run);
        }
    }
}

/// Whether a name is that of a communication on a thread of the backend's.
pub(super) fn is_run_name(name: &str) -> bool {
    name.starts_with("gloo:") || name.starts_with("mpi:")
}
