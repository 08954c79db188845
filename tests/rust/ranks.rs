//! Tests what the traces of several ranks share.

use std::sync::Arc;

use kinetoscope::link::rank::{JobRanks, MatchMethod};
use kinetoscope::time::Dur;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

use crate::files;

/// A communication: its name, its number in sequence, its start and its duration.
pub(crate) type Call = (&'static str, Option<i64>, i64, i64);

pub(crate) fn trace(rank: i64, calls: &[Call]) -> (Option<i64>, Arc<LinkedTrace>) {
    in_groups(rank, &[("0", &[0, 1], calls)])
}

/// A rank's trace: communications of groups, which are given by their names and ranks.
fn in_groups(rank: i64, groups: &[(&str, &[i64], &[Call])]) -> (Option<i64>, Arc<LinkedTrace>) {
    let mut events = Vec::new();
    let calls = groups.iter().flat_map(|(group, ranks, calls)| calls.iter().map(move |call| (group, ranks, call)));
    for (at, (group, ranks, (name, seq, start, dur))) in calls.enumerate() {
        let mut args = json!({"Collective name": name, "Process Group Name": group, "dtype": "Float",
            "Process Group Ranks": json!(ranks).to_string(), "In msg nelems": 8, "correlation": at + 1});
        if let Some(seq) = seq {
            args["Seq"] = json!(seq);
        }
        let mut event = |name: &str, category: &str, thread: i64, start: i64, dur: i64, args: &Value| {
            events.push(
                json!({"ph": "X", "name": name, "cat": category, "pid": 1, "tid": thread, "ts": start, "dur": dur,
                "args": args}),
            );
        };
        event("record_param_comms", "cpu_op", 1, start - 5, 3, &args);
        event("cudaLaunchKernel", "cuda_runtime", 1, start - 4, 1, &json!({"correlation": at + 1}));
        let device = json!({"correlation": at + 1, "device": 0, "stream": 9});
        event("ncclDevKernel_Generic()", "kernel", 9, *start, *dur, &device);
    }
    let text = json!({"traceEvents": events}).to_string();
    (Some(rank), Arc::new(LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap())))
}

fn numbers(ranks: &JobRanks) -> Vec<Vec<Option<u32>>> {
    ranks.members.iter().map(|member| member.shared.clone()).collect()
}

#[test]
fn numbers_in_sequence_match_whatever_the_windows_hold() {
    let first = trace(0, &[("allreduce", Some(4), 100, 10), ("allreduce", Some(5), 200, 10)]);
    let second = trace(1, &[("allreduce", Some(5), 205, 5), ("broadcast", Some(6), 300, 5)]);
    let ranks = JobRanks::new(vec![first, second], false);
    assert_eq!(numbers(&ranks), [vec![None, Some(0)], vec![Some(0), None]]);
    assert_eq!(
        (ranks.shared[0].how, ranks.skew_ns(0, 1), ranks.skew_ns(1, 0)),
        (MatchMethod::Number, Some(-5_000), Some(0))
    );
    assert_eq!((0..4).map(|row| ranks.place(row)).collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0), (1, 1)]);
}

#[test]
fn order_matches_only_where_nothing_is_missing() {
    let call = |start| ("allreduce", None, start, 10);
    let even = JobRanks::new(vec![trace(0, &[call(100), call(200)]), trace(1, &[call(101), call(202)])], false);
    assert_eq!(numbers(&even), [[Some(0), Some(1)], [Some(0), Some(1)]]);
    assert_eq!(even.shared[0].how, MatchMethod::Order);
    let uneven = JobRanks::new(vec![trace(0, &[call(100), call(200)]), trace(1, &[call(202)])], false);
    assert!(uneven.shared.is_empty());
}

#[test]
fn groups_of_one_name_and_other_ranks_are_others() {
    let calls = [("allreduce", Some(1), 100, 10)];
    let ranks: [(i64, &[i64]); 4] = [(0, &[0, 1]), (1, &[0, 1]), (2, &[2, 3]), (3, &[2, 3])];
    let traces = ranks.iter().map(|(rank, group)| in_groups(*rank, &[("1", group, &calls)])).collect();
    assert_eq!(numbers(&JobRanks::new(traces, false)), [[Some(0)], [Some(0)], [Some(1)], [Some(1)]]);
}

#[test]
fn two_windows_of_one_rank_are_not_two_ranks() {
    let calls = [("allreduce", None, 100, 10)];
    let ranks = JobRanks::new(vec![trace(0, &calls), trace(0, &calls)], false);
    assert!(ranks.shared.is_empty());
    assert_eq!(ranks.members.iter().map(|member| member.window).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn both_ends_of_a_message_are_one() {
    let send = |rank: i64, name: &str, end: &str, peer: i64| {
        let mut args =
            json!({"Collective name": name, "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": rank});
        args[end] = json!(peer);
        let event = json!({"ph": "X", "name": "record_param_comms", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": args});
        let document = json!({"distributedInfo": {"rank": rank}, "traceEvents": [event]});
        (Some(rank), Arc::new(LinkedTrace::new(files::trace(&document.to_string()))))
    };
    let ranks = JobRanks::new(vec![send(0, "send", "Dst Rank", 1), send(1, "recv", "Src Rank", 0)], false);
    assert_eq!(numbers(&ranks), [[Some(0)], [Some(0)]]);
}

#[test]
fn a_clock_that_is_ahead_is_found_to_the_nanosecond() {
    let linked = files::pair("synthetic_cuda");
    let mut ahead = files::pair("synthetic_cuda").trace;
    ahead.events.start.map(|start| start.after(Dur(123_456_789)));
    let traces = || vec![(Some(0), Arc::new(linked.clone())), (Some(1), Arc::new(LinkedTrace::new(ahead.clone())))];
    let ranks = JobRanks::new(traces(), false);
    let clock = ranks.members[1].clock.unwrap();
    assert_eq!((clock.offset_ns, clock.spread_ns, clock.num_collectives), (123_456_789, 0, 12));
    assert_eq!((ranks.skew_ns(0, 3), ranks.skew_ns(1, 3)), (Some(-123_456_789), Some(0)));
    let aligned = JobRanks::new(traces(), true);
    assert_eq!((aligned.skew_ns(0, 3), aligned.skew_ns(1, 3)), (Some(0), Some(0)));
}

#[test]
fn a_late_end_moves_no_clock_and_clocks_reach_through_others() {
    let calls = |ahead: i64, late: i64| {
        [1, 2, 3].map(|seq| ("allreduce", Some(seq), 100 * seq + ahead, if seq == 3 { 10 + late } else { 10 }))
    };
    let first = in_groups(0, &[("0", &[0, 1], &calls(0, 0))]);
    // Ranks 0 and 2 have no group together.
    let middle = in_groups(1, &[("0", &[0, 1], &calls(5, 90)), ("1", &[1, 2], &calls(1_005, 0))]);
    let far = in_groups(2, &[("1", &[1, 2], &calls(1_007, 0))]);
    let lonely = in_groups(3, &[("2", &[3, 9], &calls(7, 0))]);
    // Nothing leads from the others to these two, but from one to the other.
    let apart = [4, 5].map(|rank| in_groups(rank, &[("3", &[4, 5], &calls(40 * rank, 0))]));
    let [fourth, fifth] = apart;
    let ranks = JobRanks::new(vec![first, middle, far, lonely, fourth, fifth], false);
    let clocks =
        ranks.members.iter().map(|member| member.clock.map(|clock| (clock.group, clock.offset_ns, clock.spread_ns)));
    let expected =
        [Some((0, 0, 0)), Some((0, 5_000, 0)), Some((0, 7_000, 0)), None, Some((1, 0, 0)), Some((1, 40_000, 0))];
    assert_eq!(clocks.collect::<Vec<_>>(), expected);
}

#[test]
fn no_traces_share_nothing() {
    let ranks = JobRanks::new(Vec::new(), true);
    assert_eq!((ranks.num_rows(), ranks.shared.len()), (0, 0));
    let ranks = JobRanks::new(vec![(None, Arc::new(files::pair("minimal_cpu")))], true);
    assert_eq!((ranks.num_rows(), ranks.members[0].clock), (0, None));
}
