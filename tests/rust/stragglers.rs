//! Tests stragglers: late ranks, waits of others, and causes.

use kinetoscope::analyze::RankedTrace;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::job::{Call, Event, asked, column, rows, trace};

/// Three ranks that all-reduce at 100, 200 and 300 µs, 10 µs each; the last one comes `late` µs to
/// the second, which ends at the same time for all.
pub(crate) fn job(late: i64, usual: &[Event], others: &[Event]) -> Vec<RankedTrace> {
    let calls = |late: i64, wait: i64| -> Vec<Call> {
        vec![("allreduce", 1, 100, 10), ("allreduce", 2, 200 + late, 10 + wait), ("allreduce", 3, 300, 10)]
    };
    let rank = |rank: i64| match rank {
        2 => trace(2, 3, &calls(late, 0), others),
        _ => trace(rank, 3, &calls(0, late), usual),
    };
    (0..3).map(rank).collect()
}

fn first(traces: &[RankedTrace], table: &str, columns: &[&str]) -> Value {
    json!(rows(&asked("stragglers", traces, &json!({})), table, columns).first())
}

const BLAME: &[&str] = &["rank", "num_last", "caused_wait_ns", "cause"];
const WHY: &[&str] =
    &["rank", "collective_id", "lateness_ns", "caused_wait_ns", "cause", "cause_ns", "name", "excess_ns"];

#[test]
fn a_longer_kernel_is_blamed_by_name() {
    let launch = ("cuda_runtime", "launch", 1, 111, 1, 7);
    let traces = job(40, &[launch, ("kernel", "gemm", 7, 115, 30, 7)], &[launch, ("kernel", "gemm", 7, 115, 70, 7)]);
    assert_eq!(first(&traces, "stragglers", BLAME), json!([2, 1, 80_000, "compute"]));
    assert_eq!(first(&traces, "late_arrivals", WHY), json!([2, 1, 40_000, 80_000, "compute", 40_000, "gemm", 40_000]));
    let answer = asked("stragglers", &traces, &json!({}));
    assert_eq!(json!(column(&answer, "stragglers", "wait_ns")), json!([0, 40_000, 40_000]));
    assert_eq!(json!(column(&answer, "stragglers", "num_first")), json!([0, 1, 0]));
    assert_eq!(json!(column(&answer, "stragglers", "num_collectives")), json!([3, 3, 3]));
}

#[test]
fn a_host_that_slept_is_blamed_by_what_it_was_in() {
    let load = |dur| ("user_annotation", "load", 1, 112, dur, 0);
    let traces = job(50, &[load(10)], &[load(70)]);
    assert_eq!(first(&traces, "stragglers", BLAME), json!([2, 1, 100_000, "host"]));
    assert_eq!(first(&traces, "late_arrivals", WHY), json!([2, 1, 50_000, 100_000, "host", 50_000, "load", 60_000]));
}

#[test]
fn a_longer_copy_and_work_that_did_not_begin_are_told_apart() {
    let launch = ("cuda_runtime", "launch", 1, 111, 1, 7);
    let copy = |dur| ("gpu_memcpy", "Memcpy HtoD", 7, 115, dur, 7);
    let traces = job(40, &[launch, copy(10)], &[launch, copy(50)]);
    assert_eq!(first(&traces, "late_arrivals", &["cause", "name"]), json!(["copy", "Memcpy HtoD"]));
    let gemm = |start| ("kernel", "gemm", 7, start, 20, 7);
    let traces = job(40, &[launch, gemm(115)], &[launch, gemm(160)]);
    assert_eq!(first(&traces, "late_arrivals", &["cause", "name"]), json!(["idle", null]));
}

#[test]
fn nobody_is_blamed_where_all_come_at_once() {
    let traces = job(0, &[], &[]);
    let answer = asked("stragglers", &traces, &json!({}));
    let found = rows(&answer, "stragglers", &["rank", "num_last", "num_first", "wait_ns", "caused_wait_ns", "cause"]);
    assert_eq!(json!(found), json!([[0, 0, 0, 0, 0, null], [1, 0, 0, 0, 0, null], [2, 0, 0, 0, 0, null]]));
    assert_eq!(answer.tables[1].num_rows(), 0);
}

#[test]
fn a_clock_that_is_ahead_makes_nobody_late() {
    let calls = |ahead: i64| [1, 2, 3].map(|seq| ("allreduce", seq, 100 * seq + ahead, 10));
    let traces = [trace(0, 2, &calls(0), &[]), trace(1, 2, &calls(9_000), &[])];
    let answer = asked("stragglers", &traces, &json!({}));
    assert_eq!(json!(column(&answer, "stragglers", "num_last")), json!([0, 0]));
}

#[test]
fn who_meets_nobody_is_no_straggler() {
    let answer = asked("stragglers", &job(40, &[], &[])[..1], &json!({}));
    assert_eq!((answer.tables[0].num_rows(), answer.reason.as_deref()), (0, Some("no two ranks share a collective")));
}

proptest! {
    #[test]
    fn what_one_waits_another_causes(lates in prop::collection::vec(prop::collection::vec(0..50_i64, 4), 1..6)) {
        let call = |at: usize, late: i64| ("allreduce", at as i64, 200 * (at as i64 + 1) + late, 60 - late);
        let calls = |rank: usize| lates.iter().enumerate().map(|(at, late)| call(at, late[rank])).collect::<Vec<_>>();
        let traces: Vec<_> = (0..4).map(|rank| trace(rank as i64, 4, &calls(rank), &[])).collect();
        let answer = asked("stragglers", &traces, &json!({}));
        let sum = |column: &str| -> i64 {
            crate::job::column(&answer, "stragglers", column).iter().filter_map(Value::as_i64).sum()
        };
        let uneven = lates.iter().filter(|late| late.iter().any(|us| *us != late[0])).count() as i64;
        let waits: i64 = lates.iter().map(|late| late.iter().map(|us| late.iter().max().unwrap() - us).sum::<i64>()).sum();
        prop_assert_eq!((sum("wait_ns"), sum("caused_wait_ns")), (waits * 1_000, waits * 1_000));
        prop_assert_eq!((sum("num_last"), sum("num_first")), (uneven, uneven));
        prop_assert_eq!(sum("num_collectives"), 4 * lates.len() as i64);
    }
}

/// Findings across ranks: rule, rank and cost.
fn found(traces: &[RankedTrace]) -> Vec<Vec<Value>> {
    let found = rows(&asked("findings", traces, &json!({})), "findings", &["finding", "subject", "cost_ns", "rank"]);
    let compares = |row: &Vec<Value>| ["straggler", "imbalanced_ranks"].iter().any(|name| row[0] == *name);
    found.into_iter().filter(compares).collect()
}

#[test]
fn a_rank_that_computes_longer_and_comes_late_is_found() {
    let launch = ("cuda_runtime", "launch", 1, 111, 1, 7);
    let gemm = |dur| ("kernel", "gemm", 7, 115, dur, 7);
    let late = found(&job(40, &[launch, gemm(30)], &[launch, gemm(70)]));
    let imbalance = 70_000 - (30 + 30 + 70) * 1_000 / 3;
    let expected = json!([["straggler", "rank 2", 40_000, 2], ["imbalanced_ranks", "rank 2", imbalance, 2]]);
    assert_eq!(json!(late), expected);
    assert_eq!(found(&job(0, &[launch, gemm(30)], &[launch, gemm(30)])), Vec::<Vec<Value>>::new());
}
