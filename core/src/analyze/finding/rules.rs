//! Lists all rules, and counts the findings of each.

use std::borrow::Cow;

use super::row::Finding;
use super::rule::Rule;
use super::trace_matches::TraceMatches;
use super::{
    allocation, between_steps, cache_copy, communication, compile, conv_bias, copy, graph_break, host_sampling,
    idle_matrix_units, indexing, launch_bound, leak, loader, long_idle, matmul, missed_fusion, optimizer,
    out_of_memory, padded_graph, rank, small_graphs, start_up, sync, uncaptured_decode,
};
use crate::table::{Table, boolean, int, put, put_name, text};

/// All rules.
pub(super) const RULES: &[&Rule] = &[
    &sync::SYNC,
    &sync::ITEM,
    &copy::PAGEABLE,
    &copy::EXPOSED,
    &copy::CREATED_ON_HOST,
    &loader::NO_WORKERS,
    &loader::STALL,
    &launch_bound::LAUNCH_BOUND,
    &long_idle::LONG_IDLE,
    &between_steps::BETWEEN_STEPS,
    &uncaptured_decode::UNCAPTURED_DECODE,
    &padded_graph::PADDED_GRAPH,
    &host_sampling::HOST_SAMPLING,
    &cache_copy::CACHE_COPY,
    &start_up::START_UP,
    &optimizer::UNFUSED,
    &optimizer::ZEROED,
    &matmul::FP32,
    &matmul::UNALIGNED,
    &idle_matrix_units::TENSOR_CORES_IDLE,
    &conv_bias::CONV_BIAS,
    &allocation::ALLOCATION,
    &out_of_memory::OUT_OF_MEMORY,
    &leak::LEAK,
    &compile::RECOMPILATION,
    &graph_break::GRAPH_BREAK,
    &small_graphs::SMALL_GRAPHS,
    &missed_fusion::MISSED_FUSION,
    &communication::EXPOSED,
    &indexing::INDEXING,
    &rank::STRAGGLER,
    &rank::IMBALANCE,
];

/// A rule with the number of its findings.
pub(crate) struct RuleCheck {
    rule: &'static Rule,
    /// None if no trace has the data that it looks at.
    num_found: Option<i64>,
}

pub(crate) static RULES_TABLE: Table<Vec<RuleCheck>> = Table {
    name: "finding_rules",
    doc: "a rule: its pattern, cost and fix",
    num_rows: Vec::len,
    columns: &[
        text("finding", |rows, at, out| put_name(out, rows[at].rule.name)),
        int("num_found", |rows, at| rows[at].num_found),
        text("description", |rows, at, out| put(out, rows[at].rule.doc)),
        text("cost_formula", |rows, at, out| put(out, rows[at].rule.cost)),
        text("advice", |rows, at, out| put(out, rows[at].rule.advice)),
        boolean("is_pattern", |rows, at| Some(rows[at].rule.is_pattern)),
    ],
};

/// Each rule with the number of its findings in the traces.
pub(super) fn checks(findings: &[Finding], seen: &[Cow<'_, TraceMatches>]) -> Vec<RuleCheck> {
    let num_found = |rule: &Rule| findings.iter().filter(|finding| finding.name == rule.name).count() as i64;
    let is_told = |rule: &Rule| seen.iter().any(|of_trace| of_trace.data.contains(&rule.data));
    let known = |rule: &Rule| Some(num_found(rule)).filter(|num| *num > 0 || is_told(rule));
    RULES.iter().map(|rule| RuleCheck { rule, num_found: known(rule) }).collect()
}
