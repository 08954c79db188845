//! Tests user annotations and the device work that they cause.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{AnnotationRow, Selection, annotations};
use proptest::collection::vec;
use proptest::prelude::{prop_assert_eq, proptest};
use serde_json::json;

use crate::{files, shared};

/// A training step: `forward` launches on thread 1; `backward` waits on thread 1 for launches of
/// thread 2.
fn step() -> String {
    let host = |name, category, thread, start, dur, args: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":1,"tid":{thread},"ts":{start},"dur":{dur},"args":{{{args}}}}}"#
        )
    };
    let kernel = |id, start, dur| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{start},"dur":{dur},
                "args":{{"correlation":{id},"device":0,"stream":7}}}}"#
        )
    };
    let forward = r#""Sequence number":5,"Fwd thread id":0"#;
    let backward = r#""Sequence number":5,"Fwd thread id":1"#;
    let launch = |thread, start, id| {
        host("cudaLaunchKernel", "cuda_runtime", thread, start, 1, &format!(r#""correlation":{id}"#))
    };
    let events = [
        host("step", "user_annotation", 1, 0, 100, ""),
        host("forward", "user_annotation", 1, 1, 20, ""),
        host("aten::mm", "cpu_op", 1, 2, 10, forward),
        launch(1, 3, 1),
        host("backward", "user_annotation", 1, 30, 40, ""),
        host("MmBackward0", "cpu_op", 2, 35, 10, backward),
        launch(2, 36, 2),
        launch(2, 50, 3),
        host("elsewhere", "user_annotation", 3, 30, 40, ""),
        host("after", "user_annotation", 1, 80, 10, ""),
        kernel(1, 10, 5),
        kernel(2, 60, 7),
        kernel(3, 70, 11),
    ];
    format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))
}

fn rows(linked: LinkedTrace) -> Vec<AnnotationRow> {
    annotations(&Selection::all(&Arc::new(linked)))
}

fn device_ns(rows: &[AnnotationRow], name: &str) -> Option<i64> {
    rows.iter().find(|row| row.name == name && row.side == "host").unwrap().device_total_ns
}

#[test]
fn the_backward_pass_is_that_of_the_annotation_which_waited_for_it() {
    let rows = rows(LinkedTrace::new(files::trace(&step())));
    let of = |name| device_ns(&rows, name);
    assert_eq!((of("forward"), of("backward"), of("after")), (Some(5_000), Some(18_000), Some(0)));
    assert_eq!((of("step"), of("elsewhere")), (Some(23_000), Some(0)));
}

#[test]
fn the_backward_work_of_a_range_is_that_of_its_operators() {
    let rows = rows(LinkedTrace::new(files::trace(&step())));
    let of = |name| rows.iter().find(|row| row.name == name && row.side == "host").unwrap().backward_ns;
    // The kernel of `MmBackward0` ran for `forward`. The one after it has no forward operator.
    assert_eq!((of("forward"), of("backward"), of("after")), (Some(7_000), Some(0), Some(0)));
    assert_eq!(of("step"), Some(0), "it was launched while the step lasted");
}

/// Events as name, category, process, thread, start, duration and arguments.
type Event = (&'static str, &'static str, i64, i64, i64, i64, String);

fn named(name: &'static str, thread: i64, start: i64, dur: i64) -> Event {
    (name, "user_annotation", 1, thread, start, dur, String::new())
}

/// An operator of the forward pass, and the one of the backward pass that it caused, which launches
/// work of so many microseconds.
fn pass(number: i64, from: i64, to: (i64, i64), at: (i64, i64), dur: i64) -> Vec<Event> {
    let (thread, forward_thread) = to;
    let args = |number, from| format!(r#""Sequence number":{number},"Fwd thread id":{from}"#);
    vec![
        ("aten::mm", "cpu_op", 1, from, at.0, 1, args(number, 0)),
        ("MmBackward0", "cpu_op", 1, thread, at.1, 4, args(number, forward_thread)),
        ("launch", "cuda_runtime", 1, thread, at.1 + 1, 1, format!(r#""correlation":{}"#, 1_000 + number)),
        ("k", "kernel", 0, 7, at.1 + 500, dur, format!(r#""correlation":{},"stream":7"#, 1_000 + number)),
    ]
}

fn of_events(events: &[Event]) -> Vec<AnnotationRow> {
    let event = |(name, category, process, thread, start, dur, args): &Event| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{process},"tid":{thread},"ts":{start},"dur":{dur},"args":{{{args}}}}}"#
        )
    };
    let events: Vec<_> = events.iter().map(event).collect();
    rows(LinkedTrace::new(files::trace(&format!(r#"{{"traceEvents":[{}]}}"#, events.join(",")))))
}

#[test]
fn what_a_thread_does_for_itself_is_nobody_elses() {
    let mut events = vec![named("main", 1, 0, 400)];
    events.extend(pass(1, 1, (2, 1), (10, 50), 8));
    // Thread 2 has a model of its own.
    events.extend(pass(2, 2, (2, 2), (100, 110), 70));
    assert_eq!(device_ns(&of_events(&events), "main"), Some(8_000));
}

#[test]
fn who_waits_for_replicas_is_the_thread_that_runs_nothing() {
    let mut events = vec![named("backward", 1, 40, 300), named("loading", 9, 0, 400)];
    events.push(("aten::copy_", "cpu_op", 1, 9, 40, 300, String::new()));
    for replica in [5, 6] {
        events.extend(pass(replica, replica, (replica + 10, replica), (10, 50), 20));
    }
    let rows = of_events(&events);
    assert_eq!((device_ns(&rows, "backward"), device_ns(&rows, "loading")), (Some(40_000), Some(0)));
}

#[test]
fn a_backward_pass_inside_of_another_is_waited_for_by_the_same() {
    let mut events = vec![named("backward", 1, 40, 300)];
    events.extend(pass(1, 1, (2, 1), (10, 50), 5));
    // Run again on thread 2, whose backward pass is thread 3's.
    events.extend(pass(2, 2, (3, 2), (55, 60), 9));
    assert_eq!(device_ns(&of_events(&events), "backward"), Some(14_000));
}

#[test]
fn what_is_run_again_inside_of_a_backward_operator_is_for_the_same() {
    let mut events = vec![named("step", 1, 0, 400)];
    events.extend(pass(1, 1, (2, 1), (10, 50), 100));
    // It goes on for longer, and the forward pass that it runs again has its backward pass on its
    // own thread.
    events[2].5 = 100;
    events.extend(pass(2, 2, (2, 2), (60, 70), 100));
    assert_eq!(device_ns(&of_events(&events), "step"), Some(200_000));
}

#[test]
fn what_a_thread_does_later_is_for_another_only_while_that_one_waits() {
    let later = |runs: bool| {
        let mut events = vec![named("step", 1, 0, 400)];
        events.extend(pass(1, 1, (2, 1), (10, 50), 8));
        events.push(("AccumulateGrad", "cpu_op", 1, 2, 100, 20, String::new()));
        events.push(("launch", "cuda_runtime", 1, 2, 105, 1, String::from(r#""correlation":77"#)));
        events.push(("k", "kernel", 0, 7, 900, 30, String::from(r#""correlation":77,"stream":7"#)));
        if runs {
            events.push(("aten::mm", "cpu_op", 1, 1, 90, 100, String::new()));
        }
        device_ns(&of_events(&events), "step")
    };
    assert_eq!((later(false), later(true)), (Some(38_000), Some(8_000)));
}

#[test]
fn processes_number_their_threads_anew() {
    let mut events = vec![named("backward", 1, 40, 300)];
    events.extend(pass(1, 1, (2, 1), (10, 50), 5));
    let other = |(name, category, process, thread, start, dur, args): &Event| {
        let (process, thread) = if *category == "kernel" { (1, *thread) } else { (process + 1, thread + 10) };
        (*name, *category, process, thread, start + 5, *dur, args.replace("1001", "2001"))
    };
    let others: Vec<Event> = events.iter().map(other).collect();
    events.extend(others);
    let rows = of_events(&events);
    let both = rows.iter().find(|row| row.name == "backward").unwrap();
    assert_eq!((both.count, both.device_total_ns), (2, Some(10_000)));
    assert_eq!(both.longest_id, 0);
}

#[test]
fn a_real_backward_pass_has_more_device_time_than_its_forward_pass() {
    let name = "facebookresearch__HolisticTraceAnalysis/tests/data/nccl_parser_config/nccl_data.json.gz";
    let Some(trace) = shared::trace(name) else { return };
    let rows = rows(LinkedTrace::new(trace));
    assert!(device_ns(&rows, "## backward ##") > device_ns(&rows, "## forward ##"));
}

/// A backward operator on thread 2 whose forward operator ran before the recording, and an
/// annotation that waits for it on thread 1; `more` is put beside them.
fn unpaired(more: &[String]) -> String {
    let host = |name: &str, category: &str, thread: i64, start: i64, dur: i64, args: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":1,"tid":{thread},"ts":{start},"dur":{dur},"args":{{{args}}}}}"#
        )
    };
    let numbered = r#""Sequence number":22,"Fwd thread id":1"#;
    let mut events = vec![
        host("ProfilerStep#1", "user_annotation", 1, 0, 100, ""),
        host("backward", "user_annotation", 1, 10, 50, ""),
        host("autograd::engine::evaluate_function: MmBackward0", "cpu_op", 2, 20, 10, numbered),
        host("MmBackward0", "cpu_op", 2, 21, 8, numbered),
        host("cudaLaunchKernel", "cuda_runtime", 2, 22, 1, r#""correlation":4"#),
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30,"dur":7,"args":{{"correlation":4,"device":0,"stream":7}}}}"#
        ),
    ];
    events.extend_from_slice(more);
    format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))
}

#[test]
fn a_backward_pass_belongs_to_who_waited_though_its_forward_pass_was_not_recorded() {
    let rows = rows(LinkedTrace::new(files::trace(&unpaired(&[]))));
    assert_eq!((device_ns(&rows, "backward"), device_ns(&rows, "ProfilerStep#1")), (Some(7_000), Some(7_000)));
}

#[test]
fn of_two_threads_that_may_have_waited_the_one_in_an_iteration_did() {
    let other = |start: i64, dur: i64| {
        format!(r#"{{"ph":"X","cat":"user_annotation","name":"other","pid":1,"tid":3,"ts":{start},"dur":{dur}}}"#)
    };
    let times = |json: &str, outer: &str| {
        let rows = rows(LinkedTrace::new(files::trace(json)));
        ["backward", outer, "other"].map(|name| device_ns(&rows, name))
    };
    assert_eq!(times(&unpaired(&[other(0, 100)]), "ProfilerStep#1"), [Some(7_000), Some(7_000), Some(0)]);
    let without_steps = |more: &[String]| unpaired(more).replace("ProfilerStep#1", "region");
    assert_eq!(times(&without_steps(&[other(0, 100)]), "region"), [None; 3], "unknown, and not 0");
    // Around the launch, but not around the backward operator.
    assert_eq!(times(&without_steps(&[other(19, 8)]), "region"), [Some(7_000), Some(7_000), Some(0)]);
}

#[test]
fn a_thread_that_runs_operators_did_not_wait() {
    let busy = r#"{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":15,"dur":30}"#;
    let rows = rows(LinkedTrace::new(files::trace(&unpaired(&[busy.to_owned()]))));
    assert_eq!(device_ns(&rows, "backward"), Some(0));
}

proptest! {
    /// A step that begins in one frame and ends in the next encloses by time, whatever frames there
    /// are: its device time is that of the same trace without frames.
    #[test]
    fn frames_do_not_change_the_device_time_of_steps(
        frames in vec((0..400_i64, 1..200_i64), 0..12),
        launches in vec((0..390_i64, 1..9_i64), 1..20),
    ) {
        let event = |category: &str, name: &str, (start, dur): (i64, i64)| {
            json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur})
        };
        let mut events: Vec<_> =
            (0..4).map(|at| event("user_annotation", &format!("ProfilerStep#{at}"), (at * 100, 99))).collect();
        for (id, (at, dur)) in launches.iter().enumerate() {
            let mut launch = event("cuda_runtime", "cudaLaunchKernel", (*at, 1));
            launch["args"] = json!({"correlation": id + 1});
            events.push(launch);
            events.push(json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1_000 + 10 * id,
                "dur": dur, "args": {"correlation": id + 1, "device": 0, "stream": 7}}));
        }
        let plain = json!({"traceEvents": events}).to_string();
        events.extend(frames.iter().map(|frame| event("python_function", "a.py(1): f", *frame)));
        let framed = json!({"traceEvents": events}).to_string();
        let times = |json: &str| {
            let rows = rows(LinkedTrace::new(files::trace(json)));
            (0..4).map(|at| device_ns(&rows, &format!("ProfilerStep#{at}"))).collect::<Vec<_>>()
        };
        let expected: Vec<_> = (0..4_i64)
            .map(|at| {
                let inside = launches.iter().filter(|(start, _)| (at * 100..at * 100 + 99).contains(start));
                Some(inside.map(|(_, dur)| dur * 1_000).sum())
            })
            .collect();
        prop_assert_eq!(times(&plain), expected.clone());
        prop_assert_eq!(times(&framed), expected);
    }
}
