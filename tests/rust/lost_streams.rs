//! Tests where lost device work can have run: its stream, its process, and work that is not linked.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::interval::{difference, total_ns};
use kinetoscope::analyze::{BreakdownSpan, MICRO_NS, MIN_SHARE, Problem, VerdictState, breakdown, findings, verdict};
use kinetoscope::link::LinkMethod;
use kinetoscope::time::{TimeRange, Ts};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::verdict::{CUDA, call, linked, of, operator, whole, work};

fn on(mut event: Value, place: &Value) -> Value {
    for (key, value) in place.as_object().unwrap() {
        match key.as_str() {
            "device" | "stream" => event["args"][key] = value.clone(),
            _ => event[key] = value.clone(),
        }
    }
    event
}

fn stream(number: i64) -> Value {
    json!({"tid": number, "stream": number})
}

/// Idle and unknown time of each device.
fn idle_and_unknown(linked: &Arc<LinkedTrace>) -> Vec<(Option<i64>, i64, i64)> {
    let selection = whole(linked);
    let rows = breakdown(&selection, &[BreakdownSpan::of(selection.span())], MICRO_NS);
    rows.iter().map(|row| (row.device, row.idle_ns, row.unknown_ns)).collect()
}

fn lost(linked: &Arc<LinkedTrace>) -> Vec<Problem> {
    let problems = verdict(linked).problems;
    problems.into_iter().filter(|problem| problem.name == "lost_device_work").collect()
}

/// Ten times: a matrix product on stream 7, an all-reduce of 2 ms on stream 20, an addition on 7.
fn with_communication(is_recorded: impl Fn(i64) -> bool) -> Arc<LinkedTrace> {
    let mut events = Vec::new();
    for at in 0..10 {
        let (start, id) = (at * 3_000, 3 * at as usize);
        events.push(operator("aten::mm", start, 50));
        events.push(call(CUDA, CUDA.kernel, id + 1, start + 10, 5));
        events.push(work("kernel", "gemm", id + 1, start + 30, 400));
        events.push(operator("record_param_comms", start + 100, 60));
        events.push(call(CUDA, CUDA.kernel, id + 2, start + 120, 5));
        if is_recorded(at) {
            events.push(on(work("kernel", "ncclDevKernel_AllReduce", id + 2, start + 150, 2_350), &stream(20)));
        }
        events.push(operator("aten::add", start + 200, 50));
        events.push(call(CUDA, CUDA.kernel, id + 3, start + 210, 5));
        events.push(work("kernel", "add", id + 3, start + 440, 100));
    }
    linked(&events)
}

#[test]
fn lost_communication_is_not_on_the_stream_of_computation() {
    let none = with_communication(|_| false);
    let problems = lost(&none);
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!((problem.count, problem.device, problem.stream), (10, Some(0), None));
    // Nothing on the host waits: from the first communication on, no silence is known to be idle.
    assert_eq!(idle_and_unknown(&none), [(Some(0), 30_000, 22_510_000)]);
    assert!(findings(&whole(&none), MIN_SHARE).iter().all(|finding| finding.name != "long_idle"));

    let some = with_communication(|at| at < 3);
    let problems = lost(&some);
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!((problem.count, problem.device, problem.stream), (7, Some(0), Some(20)));
    assert!(problem.message.contains("at the end"), "{}", problem.message);
}

#[test]
fn the_operator_tells_the_stream_of_lost_work() {
    let mut events = Vec::new();
    for at in 0..20_i64 {
        let (start, id) = (at * 1_000, 2 * at as usize);
        events.push(operator("aten::mm", start, 50));
        events.push(call(CUDA, CUDA.kernel, id + 1, start + 10, 5));
        if !(5..15).contains(&at) {
            events.push(work("kernel", "gemm", id + 1, start + 30, 300));
        }
        events.push(operator("aten::topk", start + 100, 50));
        events.push(call(CUDA, CUDA.kernel, id + 2, start + 110, 5));
        events.push(on(work("kernel", "topk", id + 2, start + 130, 20), &stream(40)));
    }
    let problems = lost(&linked(&events));
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!((problem.count, problem.stream), (10, Some(7)));
    assert_eq!((problem.start_ns, problem.end_ns), (Some(5_010_000), Some(15_030_000)));
}

#[test]
fn a_device_keeps_its_idle_time_if_another_process_lost_work() {
    let of = |pid: i64, device: i64, is_recorded: bool| {
        let host = json!({"pid": pid, "tid": pid});
        (0..10).flat_map(move |at| {
            let id = (100 * pid + at) as usize;
            let launch = on(call(CUDA, CUDA.kernel, id, at * 1_000, 5), &host);
            let place = json!({"pid": device, "device": device});
            let kernel = on(work("kernel", "gemm", id, at * 1_000 + 20, 300), &place);
            std::iter::once(launch).chain(is_recorded.then_some(kernel))
        })
    };
    let linked = linked(&of(1_000, 0, true).chain(of(1_001, 1, false)).collect::<Vec<_>>());
    let problems = lost(&linked);
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!((problem.count, problem.device, problem.stream), (10, None, None));
    assert_eq!(idle_and_unknown(&linked), [(Some(0), 9_320_000 - 3_000_000, 0)]);
}

#[test]
fn a_thread_of_which_nothing_is_recorded_may_drive_another_device() {
    let mut events = Vec::new();
    for at in 0..10 {
        let id = 2 * at as usize;
        events.push(operator("aten::mm", at * 1_000, 40));
        events.push(call(CUDA, CUDA.kernel, id + 1, at * 1_000 + 10, 5));
        events.push(work("kernel", "gemm", id + 1, at * 1_000 + 30, 300));
        let thread = json!({"tid": 200});
        events.push(on(operator("aten::mm", at * 1_000 + 100, 40), &thread));
        events.push(on(call(CUDA, CUDA.kernel, id + 2, at * 1_000 + 110, 5), &thread));
    }
    let places = |events: &[Value]| {
        let problems = lost(&linked(events));
        let num_lost: u64 = problems.iter().map(|problem| problem.count).sum();
        assert_eq!(num_lost, 10);
        problems.into_iter().map(|problem| (problem.device, problem.stream)).collect::<Vec<_>>()
    };
    // At the end, and before.
    assert_eq!(places(&events), [(Some(0), None); 2]);
    events.insert(0, on(work("kernel", "other", 900, 5, 2), &json!({"pid": 1, "device": 1})));
    assert!(places(&events).iter().all(|(_, stream)| stream.is_none()));
}

/// Work that no number links may be of launches without device events.
#[test]
fn launches_whose_work_is_perhaps_not_linked_lost_nothing() {
    let run = |launch_id: &dyn Fn(i64) -> Value, work_id: &dyn Fn(i64) -> Value, num_work: i64| {
        let mut events = Vec::new();
        for at in 0..20 {
            events.push(operator("aten::mm", at * 1_000, 50));
            let mut launch = call(CUDA, CUDA.kernel, 1, at * 1_000 + 10, 5);
            launch["args"] = launch_id(at);
            events.push(launch);
            if at < num_work {
                let mut kernel = work("kernel", "gemm", 1, at * 1_000 + 30, 300);
                kernel["args"]["correlation"] = Value::Null;
                kernel["args"].as_object_mut().unwrap().extend(work_id(at).as_object().unwrap().clone());
                events.push(kernel);
            }
        }
        linked(&events)
    };
    let none = |_| json!({});
    let zero = |_| json!({"correlation": 0});
    let number = |at: i64| json!({"correlation": at + 1});
    let same = |_| json!({"External id": 5});
    for (launches, kernels) in [
        (&none as &dyn Fn(i64) -> Value, &none as &dyn Fn(i64) -> Value),
        (&zero, &zero),
        (&none, &number),
        (&number, &none),
        (&same, &same),
    ] {
        let linked = run(launches, kernels, 20);
        assert!(lost(&linked).is_empty(), "{:?}", lost(&linked));
        assert_eq!(idle_and_unknown(&linked)[0].2, 0);
        let too_few = lost(&run(launches, kernels, 15));
        assert_eq!((too_few.len(), too_few[0].count, too_few[0].num_all), (1, 5, Some(20)), "{too_few:?}");
    }
    assert_eq!(lost(&run(&number, &number, 15))[0].count, 5);
}

/// Two launches and two kernels in each operator, all with its `External id`, as AMD writes them.
#[test]
fn as_many_launches_as_kernels_of_an_external_id_link_in_order() {
    for (offset, num_kernels) in [(0, 2), (-400, 2), (0, 1), (0, 3)] {
        let mut events = Vec::new();
        for at in 0..10 {
            let args = json!({"External id": at + 1});
            for part in 0..2 {
                let mut launch = call(CUDA, "hipLaunchKernel", 1, at * 1_000 + 10 + 20 * part, 5);
                launch["args"] = args.clone();
                events.push(launch);
            }
            for part in 0..num_kernels {
                let start = at * 1_000 + 500 + offset + part * 100;
                events
                    .push(json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 2, "tid": 0, "ts": start, "dur": 80,
                    "args": {"External id": at + 1, "device": 2, "stream": 0}}));
            }
        }
        let linked = linked(&events);
        let events = &linked.trace.events;
        let kernels = (0..events.len()).filter(|row| linked.trace.is_on_device(*row));
        let launches: Vec<_> = kernels.map(|row| linked.links.launch.get(row)).collect();
        if num_kernels == 2 {
            let expected: Vec<_> = (0..10).flat_map(|at| [Some(4 * at), Some(4 * at + 1)]).collect();
            assert_eq!(launches, expected);
            assert_eq!(linked.links.launched.how(2), LinkMethod::ExternalId);
            assert!(lost(&linked).is_empty());
        } else {
            assert!(launches.iter().all(Option::is_none));
            let verdict = verdict(&linked);
            assert_eq!(of(&verdict, "ambiguous_launch").unwrap().count, 10 * num_kernels as u64);
            // A kernel too few in each.
            let num_lost: u64 = lost(&linked).iter().map(|problem| problem.count).sum();
            assert_eq!(num_lost, if num_kernels == 1 { 10 } else { 0 });
            assert_eq!(of(&verdict, "missing_launch"), None);
        }
    }
}

/// Three copies, all with the number of the first call; and a copy that the device splits.
#[test]
fn copies_that_share_a_number_go_to_the_calls_that_lack_theirs() {
    let mut events = Vec::new();
    for at in 0..6 {
        let (start, id) = (at * 1_000, 3 * at as usize + 1);
        events.extend((0..3).map(|part| call(CUDA, CUDA.copy, id + part, start + 20 * part as i64, 5)));
        events.extend((0..3).map(|part| work("gpu_memcpy", "Memcpy HtoD", id, start + 200 + 50 * part, 40)));
    }
    let shared = linked(&events);
    assert!(lost(&shared).is_empty(), "{:?}", lost(&shared));
    assert_eq!([3, 4, 5].map(|row| shared.links.launch.get(row)), [Some(0), Some(1), Some(2)]);
    let split = [
        call(CUDA, CUDA.copy, 1, 0, 5),
        work("gpu_memcpy", "Memcpy HtoD", 1, 20, 5),
        work("gpu_memcpy", "Memcpy HtoD", 1, 30, 5),
    ];
    let split = linked(&split);
    assert_eq!([1, 2].map(|row| split.links.launch.get(row)), [Some(0); 2]);
}

/// Replays of one graph of ten nodes; of some, only the first nodes are in the file.
#[test]
fn replays_with_fewer_nodes_than_most_lost_a_part() {
    let replays = |num_nodes: &dyn Fn(usize) -> i64, graph: &dyn Fn(usize) -> i64| {
        let replay = |at: usize| {
            let start = at as i64 * 10_000;
            let node = |node: i64| {
                let mut node_work = work("kernel", "node", at + 1, start + 520 + node * 400, 390);
                node_work["args"]["graph id"] = json!(graph(at));
                node_work["args"]["graph node id"] = json!(node + 100);
                node_work
            };
            let nodes = (0..num_nodes(at)).map(node).collect::<Vec<_>>();
            std::iter::once(call(CUDA, CUDA.graph, at + 1, start + 200, 300)).chain(nodes)
        };
        linked(&(0..20).flat_map(replay).collect::<Vec<_>>())
    };
    let some = replays(&|at| if at % 5 < 3 { 10 } else { 4 }, &|_| 5);
    let problems = lost(&some);
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!((problem.count, problem.num_all), (8, Some(20)));
    assert!(problem.message.contains("only a part"), "{}", problem.message);
    // From the launch of each such replay to the first node of the next one or the end, without the
    // four nodes of each. Two such replays follow each other.
    let pair = 2 * 10_320 - 320 - 8 * 390;
    let last = (520 + 3 * 400 + 390) + 10_000 - 200 - 8 * 390;
    assert_eq!(idle_and_unknown(&some)[0].2, (3 * pair + last) * 1_000);
    // Two graphs; and one that really changes.
    assert!(lost(&replays(&|at| if at % 2 == 0 { 10 } else { 4 }, &|at| (at % 2) as i64)).is_empty());
    assert!(lost(&replays(&|at| at as i64 % 7 + 1, &|_| 5)).is_empty());
}

#[test]
fn a_short_launch_at_the_end_of_another_is_one_of_its_own() {
    let mut events = Vec::new();
    for at in 0..20 {
        let id = 2 * at as usize;
        events.push(call(CUDA, CUDA.kernel, id + 1, at * 1_000, 5));
        events.push(work("kernel", "k", id + 1, at * 1_000 + 30, 100));
        events.push(call(CUDA, CUDA.kernel, id + 2, at * 1_000 + 5, 0));
    }
    let num_lost: u64 = lost(&linked(&events)).iter().map(|problem| problem.count).sum();
    assert_eq!(num_lost, 20);
}

/// A launch of one of three kinds, each with a stream of its own.
#[derive(Debug, Clone, Copy)]
struct StreamLaunch {
    kind: usize,
    pause: i64,
    dur: i64,
    is_lost: bool,
}

fn stream_launches() -> impl Strategy<Value = Vec<StreamLaunch>> {
    let launch = (0..3_usize, 1..40_i64, 1..90_i64, prop::bool::weighted(0.4))
        .prop_map(|(kind, pause, dur, is_lost)| StreamLaunch { kind, pause, dur, is_lost });
    prop::collection::vec(launch, 1..40)
}

proptest! {
    /// On several streams, no time in which lost work ran is idle. Of communication, nothing may be
    /// recorded at all.
    #[test]
    fn work_of_several_streams_is_lost_in_unknown_time(run in stream_launches()) {
        let (mut events, mut truth) = (Vec::new(), Vec::new());
        let (mut host, mut free) = (0, [0; 3]);
        let kinds = [("aten::mm", 7), ("aten::topk", 9), ("record_param_comms", 20)];
        // One recorded of each operator but the communication.
        let first = [0, 1].map(|kind| StreamLaunch { kind, pause: 1, dur: 5, is_lost: false });
        for (at, launch) in first.into_iter().chain(run).enumerate() {
            let (name, number) = kinds[launch.kind];
            events.push(operator(name, host, 3));
            events.push(call(CUDA, CUDA.kernel, at + 1, host + 1, 1));
            let start = (host + 3).max(free[launch.kind]);
            free[launch.kind] = start + launch.dur;
            if launch.is_lost {
                truth.push(TimeRange { start: Ts(start * 1_000), end: Ts((start + launch.dur) * 1_000) });
            } else {
                events.push(on(work("kernel", "k", at + 1, start, launch.dur), &stream(number)));
            }
            host += 4 + launch.pause;
        }
        events.push(operator("last", free.into_iter().max().unwrap().max(host), 1));
        let linked = linked(&events);
        truth.sort_by_key(|range| range.start);
        let mut joined: Vec<TimeRange> = Vec::new();
        for range in truth {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        prop_assert_eq!(total_ns(&difference(&joined, linked.lost_work().of_device(Some(0)))), 0);
        prop_assert_eq!(verdict(&linked).state == VerdictState::Complete, joined.is_empty());
        idle_and_unknown(&linked);
    }
}
