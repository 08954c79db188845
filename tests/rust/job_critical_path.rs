//! Tests the critical path across ranks on small jobs by hand, and its laws on all jobs.

use kinetoscope::analyze::RankedTrace;
use kinetoscope::view::Session;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::job::{Event, asked, rows, trace};
use crate::screen::ask;
use crate::worker;

/// Two ranks that compute, all-reduce until 120 µs, and of which the first computes again. Rank 1
/// computes for longer; its clock is ahead.
fn job(ahead: i64) -> Vec<RankedTrace> {
    let launch = |start, correlation| ("cuda_runtime", "launch", 1, start, 1, correlation);
    let gemm = |start, dur| ("kernel", "gemm", 9, start, dur, 7);
    let first: [Event; 4] = [launch(10, 7), gemm(15, 23), launch(12, 8), ("kernel", "after", 9, 121, 50, 8)];
    let second: [Event; 2] = [launch(10 + ahead, 7), gemm(15 + ahead, 93)];
    vec![trace(0, 2, &[("allreduce", 1, 40, 80)], &first), trace(1, 2, &[("allreduce", 1, 110 + ahead, 10)], &second)]
}

fn steps(traces: &[RankedTrace]) -> Value {
    let answer = asked("job_critical_path", traces, &json!({}));
    let found = rows(&answer, "job_critical_path", &["rank", "kind", "name", "start_ns", "dur_ns"]);
    json!(found.into_iter().filter(|row| row[4] != json!(0)).collect::<Vec<_>>())
}

fn expected() -> Value {
    let nccl = "ncclDevKernel_Generic()";
    json!([
        [1, "launch", "gemm", 10_000, 5_000],
        [1, "kernel", "gemm", 15_000, 93_000],
        [1, "kernel_kernel", nccl, 108_000, 2_000],
        [0, "kernel", nccl, 110_000, 10_000],
        [0, "kernel_kernel", "after", 120_000, 1_000],
        [0, "kernel", "after", 121_000, 50_000],
    ])
}

#[test]
fn the_path_comes_from_the_rank_that_came_last() {
    assert_eq!(steps(&job(0)), expected());
    let answer = asked("job_critical_path", &job(0), &json!({}));
    assert_eq!(
        json!(rows(&answer, "job_critical_path_ranks", &["rank", "path_ns"])),
        json!([[1, 100_000], [0, 61_000]])
    );
}

#[test]
fn a_clock_that_is_ahead_changes_nothing() {
    assert_eq!(steps(&job(5_000)), expected());
    worker::assert_alike(&job(5_000), &json!({}));
}

#[test]
fn what_a_rank_slept_between_operators_is_on_the_path() {
    let first = [("cuda_runtime", "launch", 1, 1, 1, 8), ("kernel", "after", 9, 121, 50, 8)];
    let traces = [
        trace(0, 2, &[("allreduce", 1, 20, 100)], &first),
        trace(1, 2, &[("allreduce", 1, 100, 20)], &[("cpu_op", "load", 1, 0, 10, 0)]),
    ];
    let nccl = "ncclDevKernel_Generic()";
    let expected = json!([
        [1, "operator", "load", 0, 10_000],
        [1, "between", "record_param_comms", 10_000, 85_000],
        [1, "operator", "record_param_comms", 95_000, 1_000],
        [1, "launch", nccl, 96_000, 4_000],
        [0, "kernel", nccl, 100_000, 20_000],
        [0, "kernel_kernel", "after", 120_000, 1_000],
        [0, "kernel", "after", 121_000, 50_000],
    ]);
    assert_eq!(steps(&traces), expected);
    let ranks = rows(&asked("job_critical_path", &traces, &json!({})), "job_critical_path_ranks", &["rank", "host_ns"]);
    assert_eq!(json!(ranks), json!([[1, 96_000], [0, 0]]));
}

proptest! {
    #[test]
    fn each_step_ends_where_the_next_begins_and_the_last_with_the_job(
        ranks in prop::collection::vec(prop::collection::vec((0..60_i64, 1..60_i64, 1..80_i64), 3), 1..4),
    ) {
        let num_ranks = ranks.len() as i64;
        let traces: Vec<_> = ranks.iter().enumerate().map(|(rank, calls)| {
            let start = |at: usize| 200 * (at as i64 + 1);
            let talk: Vec<_> = (0..3).map(|at| ("allreduce", at as i64, start(at) + calls[at].0, calls[at].1)).collect();
            let work = (0..3).map(|at| ("kernel", "gemm", 7, start(at) - 100, calls[at].2, 0));
            trace(rank as i64, num_ranks, &talk, &work.collect::<Vec<_>>())
        }).collect();
        let answer = asked("job_critical_path", &traces, &json!({}));
        let times = rows(&answer, "job_critical_path", &["start_ns", "dur_ns"]);
        let times: Vec<_> = times.iter().map(|row| (row[0].as_i64().unwrap(), row[1].as_i64().unwrap())).collect();
        prop_assert!(times.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0));
        worker::assert_alike(&traces, &json!({}));
    }
}

#[test]
fn a_screen_draws_the_path_from_rank_to_rank() {
    for (ahead, align) in [(0, "clocks"), (5_000, "clocks"), (5_000, "recorded")] {
        let mut session = Session::default();
        for (rank, linked) in job(ahead) {
            session.add("", rank, linked).unwrap();
        }
        let request =
            json!({"type": "path", "through_job": true, "start": 0.0, "end": 1e9, "pixels": 60_000, "align": align});
        let path = ask(&session, &request);
        let (tracks, ends) = (path["track"].as_array().unwrap(), path["end_track"].as_array().unwrap());
        let overview = ask(&session, &json!({"type": "overview"}));
        let part_of = |track: &Value| {
            let group = overview["tracks"].as_array().unwrap().iter().find(|one| one["track"] == *track).unwrap();
            overview["groups"][group["group"].as_u64().unwrap() as usize]["part"].clone()
        };
        let crossings: Vec<_> = (0..tracks.len())
            .filter(|at| part_of(&tracks[*at]) != part_of(&ends[*at]))
            .map(|at| (part_of(&tracks[at]), part_of(&ends[at])))
            .collect();
        assert_eq!(crossings, [(json!(1), json!(0))], "{align}");
        assert_eq!(
            path["ranks"],
            json!([
                {"part": 0, "total_ns": 61_000, "share": 0.378_882},
                {"part": 1, "total_ns": 100_000, "share": 0.621_118},
            ])
        );
        assert_eq!(
            path["shares"][0],
            json!({"part": null, "bound": "compute", "total_ns": 143_000, "share": 0.888_199})
        );
    }
}
