//! Tests collectives across ranks: arrivals, waits and bandwidth.

use kinetoscope::analyze::{RankedTrace, analysis};
use proptest::prelude::*;
use serde_json::json;

use crate::job::{asked, column, rows, trace};

/// Two ranks: the second comes 30 µs late to an all-reduce of 4000 bytes, and in time to a
/// broadcast.
fn late() -> Vec<RankedTrace> {
    let first = [("allreduce", 1, 100, 40), ("broadcast", 2, 200, 20)];
    let second = [("allreduce", 1, 130, 10), ("broadcast", 2, 200, 20)];
    vec![trace(0, 2, &first, &[]), trace(1, 2, &second, &[])]
}

#[test]
fn who_came_late_made_the_other_wait() {
    let answer = asked("collectives", &late(), &json!({}));
    let columns = ["skew_ns", "end_skew_ns", "wait_ns", "max_wait_ns", "total_ns", "transfer_ns", "num_traces"];
    let found = rows(&answer, "collective_skew", &columns);
    assert_eq!(json!(found[0]), json!([30_000, 0, 30_000, 30_000, 50_000, 10_000, 2]));
    assert_eq!(json!(found[1])[0], json!(0));
    assert_eq!(json!(column(&answer, "collective_skew", "first_rank")), json!([0, null]));
    assert_eq!(json!(column(&answer, "collective_skew", "last_rank")), json!([1, null]));
    assert_eq!(answer.tables[0].num_rows(), 4);
}

#[test]
fn bandwidth_is_that_of_the_transfer() {
    let answer = asked("collectives", &late(), &json!({}));
    // 4000 bytes in 10 µs; of two ranks, an all-reduce carries 2 · 1/2 of them over each link, as
    // does a broadcast.
    assert_eq!(json!(column(&answer, "collective_skew", "algorithm_gbps")), json!([0.4, 0.2]));
    assert_eq!(json!(column(&answer, "collective_skew", "bus_gbps")), json!([0.4, 0.2]));
    let four = (0..4).map(|rank| trace(rank, 4, &[("allreduce", 1, 100, 10), ("_allgather_base", 2, 200, 20)], &[]));
    let answer = asked("collectives", &four.collect::<Vec<_>>(), &json!({}));
    assert_eq!(json!(column(&answer, "collective_skew", "bus_gbps")), json!([0.6, 0.15]));
    assert_eq!(json!(column(&answer, "collective_summary", "count")), json!([1, 1]));
}

#[test]
fn one_trace_has_bandwidths_and_nobody_to_wait_for() {
    let traces = late();
    let answer = analysis("collectives").unwrap().answer(&traces[0].1, "{}").unwrap();
    assert_eq!(json!(column(&answer, "collective_skew", "skew_ns")), json!([null, null]));
    assert_eq!(json!(column(&answer, "collective_skew", "wait_ns")), json!([null, null]));
    assert_eq!(json!(column(&answer, "collective_skew", "bus_gbps")), json!([0.1, 0.2]));
    assert_eq!(json!(column(&answer, "collectives", "rank")), json!([0, 0]));
}

#[test]
fn a_communication_belongs_to_the_range_that_it_was_called_in() {
    let traces = late();
    let asked = |start: i64, end: i64| asked("collectives", &traces, &json!({"start_ns": start, "end_ns": end}));
    let (before, after) = (asked(0, 150_000), asked(150_000, 900_000));
    assert_eq!(json!(column(&before, "collectives", "collective")), json!(["all_reduce", "all_reduce"]));
    assert_eq!(json!(column(&before, "collective_skew", "collective")), json!(["all_reduce"]));
    assert_eq!(json!(column(&after, "collectives", "start_ns")), json!([200_000, 200_000]));
    assert_eq!(json!(column(&after, "collective_summary", "collective")), json!(["broadcast"]));
    let nothing = asked(900_000, 901_000);
    assert_eq!((nothing.tables[0].num_rows(), nothing.reason.as_deref()), (0, Some("no communication was recorded")));
}

#[test]
fn clocks_are_compared_as_they_are_unless_asked_to_align() {
    let calls = |ahead: i64| [1, 2, 3].map(|seq| ("allreduce", seq, 100 * seq + ahead, 10));
    let traces = [trace(0, 2, &calls(0), &[]), trace(1, 2, &calls(7_000), &[])];
    let skews = |request| json!(column(&asked("collectives", &traces, &request), "collective_skew", "skew_ns"));
    assert_eq!(skews(json!({})), json!([7_000_000, 7_000_000, 7_000_000]));
    assert_eq!(skews(json!({"align_clocks": true})), json!([0, 0, 0]));
}

proptest! {
    #[test]
    fn waits_are_those_of_every_microsecond(
        times in prop::collection::vec(prop::collection::vec((0..40_i64, 1..40_i64), 2..5), 1..4),
        num_ranks in 2..5_usize,
    ) {
        let call = |at: usize, rank: usize| {
            let (start, dur) = times[at][rank % times[at].len()];
            ("allreduce", at as i64, 1_000 * (at as i64 + 1) + start, dur)
        };
        let traces: Vec<_> = (0..num_ranks)
            .map(|rank| trace(rank as i64, num_ranks as i64, &(0..times.len()).map(|at| call(at, rank)).collect::<Vec<_>>(), &[]))
            .collect();
        let answer = asked("collectives", &traces, &json!({}));
        let found = rows(&answer, "collective_skew", &["wait_ns", "total_ns", "skew_ns", "transfer_ns"]);
        for (at, found) in found.iter().enumerate() {
            let calls: Vec<_> = (0..num_ranks).map(|rank| call(at, rank)).collect();
            let starts: Vec<_> = calls.iter().map(|call| call.2).collect();
            let all_there = |us: &i64| starts.iter().all(|start| start <= us);
            let run = || calls.iter().flat_map(|call| call.2..call.2 + call.3);
            let waited = run().filter(|us| !all_there(us)).count() as i64;
            let skew = starts.iter().max().unwrap() - starts.iter().min().unwrap();
            let transfer = calls.iter().map(|call| call.3).min().unwrap();
            let expected = [waited, run().count() as i64, skew, transfer].map(|us| us * 1_000);
            prop_assert_eq!(json!(found), json!(expected));
        }
    }
}

#[test]
fn a_rank_that_skips_a_number_lacks_the_collective() {
    let calls = [("allreduce", 1, 100, 10), ("allreduce", 2, 200, 10), ("broadcast", 3, 300, 10)];
    let whole = [calls[0], calls[1], calls[2], ("allreduce", 4, 400, 10)];
    // Recorded from the second one on, without the broadcast; and until the third.
    let later = [calls[1], ("allreduce", 4, 400, 10)];
    let traces = [trace(0, 3, &whole, &[]), trace(1, 3, &later, &[]), trace(2, 3, &calls, &[])];
    let columns = ["rank", "collective", "count", "seq", "ranks"];
    let found = rows(&asked("topology", &traces, &json!({})), "lacking_collectives", &columns);
    assert_eq!(json!(found), json!([[1, "broadcast", 1, 3, "[0,2]"]]));
}

#[test]
fn a_rank_without_communication_lacks_all() {
    let calls = [("allreduce", 1, 100, 10), ("allreduce", 2, 200, 10)];
    let traces = [trace(0, 3, &calls, &[]), trace(1, 3, &[], &[]), trace(2, 3, &calls, &[])];
    let columns = ["rank", "collective", "count", "seq", "ranks"];
    let found = rows(&asked("topology", &traces, &json!({})), "lacking_collectives", &columns);
    assert_eq!(json!(found), json!([[1, "all_reduce", 2, 1, "[0,2]"]]));
}

#[test]
fn a_rank_that_communicates_outside_of_the_range_lacks_nothing() {
    let early = [("allreduce", 1, 100, 10), ("allreduce", 2, 200, 10)];
    let late = [("allreduce", 2, 200, 10), ("allreduce", 3, 700, 10)];
    let traces = [trace(0, 3, &early, &[]), trace(1, 3, &late, &[]), trace(2, 3, &early, &[])];
    let range = json!({"start_ns": 0, "end_ns": 150_000});
    assert!(rows(&asked("topology", &traces, &range), "lacking_collectives", &["rank"]).is_empty());
}
