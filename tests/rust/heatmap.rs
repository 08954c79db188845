//! Tests the map of ranks and iterations: times, waits, and the picture of large jobs.

use kinetoscope::analyze::RankedTrace;
use kinetoscope::view::chart;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::job::{Call, Event, asked, column, rows, trace};

/// Iterations of 200 µs, each with a kernel and an all-reduce of 60 µs. That starts 100 µs and the
/// lateness of the rank into the iteration.
fn rank(rank: i64, num_ranks: i64, lates: &[i64]) -> RankedTrace {
    let names: Vec<&'static str> = vec!["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"];
    let start = |at: usize| 1_000 + 200 * at as i64;
    let call = |(at, late): (usize, &i64)| -> Call { ("allreduce", at as i64, start(at) + 100 + late, 60 - late) };
    let calls: Vec<_> = lates.iter().enumerate().map(call).collect();
    let others = lates.iter().enumerate().flat_map(|(at, _)| -> [Event; 3] {
        [
            ("user_annotation", names[at], 1, start(at), 199, 0),
            ("cuda_runtime", "launch", 1, start(at) + 1, 1, 7 + at as i64),
            ("kernel", "gemm", 7, start(at) + 10, 40, 7 + at as i64),
        ]
    });
    trace(rank, num_ranks, &calls, &others.collect::<Vec<_>>())
}

const CELL: &[&str] =
    &["rank", "iteration", "dur_ns", "device_busy_ns", "exposed_communication_ns", "wait_ns", "caused_wait_ns"];

#[test]
fn each_iteration_of_each_rank_has_a_row() {
    let job = [rank(0, 3, &[0, 0]), rank(1, 3, &[0, 20]), rank(2, 3, &[0, 0])];
    let found = rows(&asked("heatmap", &job, &json!({})), "heatmap", CELL);
    let expected = json!([
        [0, 0, 199_000, 100_000, 60_000, 0, 0],
        [0, 1, 199_000, 100_000, 60_000, 20_000, 0],
        [1, 0, 199_000, 100_000, 60_000, 0, 0],
        [1, 1, 199_000, 80_000, 40_000, 0, 40_000],
        [2, 0, 199_000, 100_000, 60_000, 0, 0],
        [2, 1, 199_000, 100_000, 60_000, 20_000, 0],
    ]);
    assert_eq!(json!(found), expected);
    let second = rows(&asked("heatmap", &job, &json!({"iteration": 1})), "heatmap", CELL);
    assert_eq!(json!(second), json!([expected[1], expected[3], expected[5]]));
}

#[test]
fn without_iterations_the_whole_recording_is_one() {
    let calls: Vec<Call> = vec![("allreduce", 1, 100, 10)];
    let job = [trace(0, 2, &calls, &[]), trace(1, 2, &[("allreduce", 1, 104, 6)], &[])];
    let found =
        rows(&asked("heatmap", &job, &json!({})), "heatmap", &["rank", "iteration", "wait_ns", "caused_wait_ns"]);
    assert_eq!(json!(found), json!([[0, null, 4_000, 0], [1, null, 0, 4_000]]));
    let alone = rows(&asked("heatmap", &[trace(0, 1, &[], &[])], &json!({})), "heatmap", CELL);
    assert!(alone.is_empty(), "{alone:?}");
}

#[test]
fn host_work_alone_has_no_device_time() {
    let host = |rank| trace(rank, 2, &[], &[("cpu_op", "aten::add", 1, 100, 10, 0)]);
    let found = rows(&asked("heatmap", &[host(0), host(1)], &json!({})), "heatmap", CELL);
    assert_eq!(json!(found[0]), json!([0, null, 10_000, null, null, null, null]));
}

proptest! {
    #[test]
    fn waits_are_those_of_stragglers(lates in prop::collection::vec(prop::collection::vec(0..50_i64, 4), 2..5)) {
        let num_ranks = lates.len() as i64;
        let job: Vec<_> = lates.iter().enumerate().map(|(at, lates)| rank(at as i64, num_ranks, lates)).collect();
        let (map, stragglers) = (asked("heatmap", &job, &json!({})), asked("stragglers", &job, &json!({})));
        for name in ["wait_ns", "caused_wait_ns"] {
            let by_rank = |answer, table| -> Vec<i64> {
                let (ranks, values) = (column(answer, table, "rank"), column(answer, table, name));
                let of = |rank: i64| ranks.iter().zip(&values).filter(move |(own, _)| own.as_i64() == Some(rank));
                (0..num_ranks).map(|rank| of(rank).filter_map(|(_, value)| value.as_i64()).sum()).collect()
            };
            prop_assert_eq!(by_rank(&map, "heatmap"), by_rank(&stragglers, "stragglers"), "{}", name);
        }
    }
}

#[test]
fn the_slow_rank_is_named_however_many_there_are() {
    for num_ranks in [2, 7, 300, 1_024] {
        let slow = num_ranks - 2;
        let job: Vec<_> = (0..num_ranks).map(|at| rank(at, num_ranks, &[0, if at == slow { 30 } else { 0 }])).collect();
        let answer = asked("heatmap", &job, &json!({}));
        let svg = chart(&*answer.tables[0], answer.plot, None);
        assert!(svg.contains(&format!("at rank {slow}, iteration 1")), "{num_ranks}: {}", &svg[..2_000]);
        assert!(svg.len() < 300_000, "{num_ranks}: {} bytes", svg.len());
        let waits = column(&answer, "heatmap", "caused_wait_ns");
        assert_eq!(waits.iter().filter(|value| **value != json!(0)).count(), 1);
        assert_eq!(waits.iter().filter_map(Value::as_i64).sum::<i64>(), 30_000 * (num_ranks - 1));
    }
}
