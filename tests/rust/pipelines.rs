//! Tests pipelines: stages that wait by the schedule are no stragglers, slow stages are.

use std::collections::BTreeMap;
use std::sync::Arc;

use kinetoscope::analyze::RankedTrace;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::job::{asked, rows};
use crate::worker::assert_alike;

/// A step of a stage: forward or backward of a micro-batch, on a chunk of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    pub(crate) is_forward: bool,
    pub(crate) batch: i64,
    pub(crate) chunk: i64,
}

/// The steps of each stage in its order.
pub(crate) type Schedule = Vec<Vec<Step>>;

pub(crate) fn step(is_forward: bool, batch: i64, chunk: i64) -> Step {
    Step { is_forward, batch, chunk }
}

pub(crate) fn gpipe(num_stages: i64, num_batches: i64) -> Schedule {
    let steps = |is_forward| (0..num_batches).map(move |batch| step(is_forward, batch, 0));
    (0..num_stages).map(|_| steps(true).chain(steps(false)).collect()).collect()
}

pub(crate) fn one_forward_one_backward(num_stages: i64, num_batches: i64) -> Schedule {
    let stage = |stage: i64| {
        let warm = (num_stages - stage - 1).min(num_batches);
        let mut steps: Vec<Step> = (0..warm).map(|batch| step(true, batch, 0)).collect();
        for batch in 0..num_batches {
            steps.extend((warm + batch < num_batches).then(|| step(true, warm + batch, 0)));
            steps.push(step(false, batch, 0));
        }
        steps
    };
    (0..num_stages).map(stage).collect()
}

/// Two chunks a stage; all micro-batches go through the first, then through the second, and back.
pub(crate) fn interleaved(num_stages: i64, num_batches: i64) -> Schedule {
    let steps = |is_forward: bool, chunk| (0..num_batches).map(move |batch| step(is_forward, batch, chunk));
    let stage = |_| {
        let forward = steps(true, 0).chain(steps(true, 1));
        forward.chain(steps(false, 1)).chain(steps(false, 0)).collect()
    };
    (0..num_stages).map(stage).collect()
}

/// The stage and the chunk that give a step its data.
fn source(stage: i64, of: Step, num_stages: i64, num_chunks: i64) -> Option<(i64, Step)> {
    let (at, last) = (of.chunk * num_stages + stage, num_stages * num_chunks - 1);
    let before = if of.is_forward { at - 1 } else { at + 1 };
    (0..=last).contains(&before).then(|| (before % num_stages, Step { chunk: before / num_stages, ..of }))
}

/// Times of all steps, `[start, end]`, as they follow from the schedule. `dur` gives how long one
/// takes on a stage.
pub(crate) fn run(schedule: &Schedule, dur: &dyn Fn(i64, Step) -> i64) -> Vec<Vec<(Step, i64, i64)>> {
    let num_stages = schedule.len() as i64;
    let num_chunks = schedule[0].iter().map(|step| step.chunk).max().unwrap() + 1;
    let mut ended: BTreeMap<(i64, Step), i64> = BTreeMap::new();
    let mut done: Vec<Vec<(Step, i64, i64)>> = vec![Vec::new(); schedule.len()];
    while done.iter().map(Vec::len).sum::<usize>() < schedule.iter().map(Vec::len).sum() {
        let before = ended.len();
        for (stage, steps) in schedule.iter().enumerate() {
            let Some(next) = steps.get(done[stage].len()) else { continue };
            let given = match source(stage as i64, *next, num_stages, num_chunks) {
                Some(source) => ended.get(&source).copied(),
                None => Some(100),
            };
            let Some(given) = given else { continue };
            let free = done[stage].last().map_or(100, |(.., end)| *end);
            let end = given.max(free) + dur(stage as i64, *next);
            ended.insert((stage as i64, *next), end);
            done[stage].push((*next, given.max(free), end));
        }
        assert!(ended.len() > before, "the schedule is stuck");
    }
    done
}

/// A record of a message, its launch and its kernel: launched as early as their id.
fn message(events: &mut Vec<Value>, ends: (&str, i64, i64), start: i64, dur: i64, id: usize) {
    message_at(events, ends, (start, dur), (id, id));
}

fn put(events: &mut Vec<Value>, name: &str, stream: i64, start: i64, dur: i64, id: usize) {
    put_at(events, name, stream, (start, dur), (id, id));
}

/// A message whose kernel has a start and a duration, called at a time.
fn message_at(
    events: &mut Vec<Value>,
    (name, own, other): (&str, i64, i64),
    kernel: (i64, i64),
    (called, id): (usize, usize),
) {
    let (src, dst) = if name == "send" { (own, other) } else { (other, own) };
    let group = format!("{}-{}", src.min(dst), src.max(dst));
    let mut args = json!({"Collective name": name, "In msg nelems": 64, "Out msg nelems": 64, "Group size": 2,
        "dtype": "Float", "Process Group Name": group, "Process Group Ranks": json!([src.min(dst), src.max(dst)]).to_string()});
    args[if name == "send" { "Dst Rank" } else { "Src Rank" }] = json!(other);
    events.push(
        json!({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": called, "dur": 0.6,
        "args": args}),
    );
    put_at(events, "ncclDevKernel_SendRecv()", 20 + i64::from(name == "send"), kernel, (called, id));
}

/// A kernel and its launch at a time.
fn put_at(events: &mut Vec<Value>, name: &str, stream: i64, (start, dur): (i64, i64), (called, id): (usize, usize)) {
    events.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
        "ts": called as f64 + 0.1, "dur": 0.2, "args": {"correlation": id + 1}}));
    events.push(json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start, "dur": dur,
        "args": {"correlation": id + 1, "device": 0, "stream": stream}}));
}

/// The marks that the host leaves beside the work of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StageMarks {
    /// None.
    Bare,
    /// Operators, those of the backward pass inside autograd's.
    Operators,
    /// Ranges with the name of the action.
    Actions,
}

fn traces(schedule: &Schedule, dur: &dyn Fn(i64, Step) -> i64) -> Vec<RankedTrace> {
    let ranks: Vec<i64> = (0..schedule.len() as i64).collect();
    marked_traces(schedule, dur, &ranks, StageMarks::Bare)
}

/// The event of the host around the launch of a step, and an optimizer's after the last.
fn mark(events: &mut Vec<Value>, marks: StageMarks, (stage, num_stages): (i64, i64), step: Step, called: usize) {
    let (category, name) = match (marks, step.is_forward) {
        (StageMarks::Bare, _) => return,
        (StageMarks::Operators, true) => ("cpu_op", String::from("aten::mm")),
        (StageMarks::Operators, false) => ("cpu_op", String::from("autograd::engine::evaluate_function: MmBackward0")),
        (StageMarks::Actions, is_forward) => {
            let letter = if is_forward { 'F' } else { 'B' };
            ("user_annotation", format!("PP:{}{letter}{}", step.chunk * num_stages + stage, step.batch))
        }
    };
    events.push(json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": called, "dur": 0.5}));
}

/// The traces of all stages, which have these ranks. Everything is launched ahead; a receive runs
/// from when the stage is free until its data are there.
pub(crate) fn marked_traces(
    schedule: &Schedule,
    dur: &dyn Fn(i64, Step) -> i64,
    ranks: &[i64],
    marks: StageMarks,
) -> Vec<RankedTrace> {
    let num_stages = schedule.len() as i64;
    let num_chunks = schedule[0].iter().map(|step| step.chunk).max().unwrap() + 1;
    let done = run(schedule, dur);
    let stage = |(own, steps): (usize, &Vec<(Step, i64, i64)>)| {
        let (own, mut events, mut free, mut id) = (own as i64, Vec::new(), 100, 0);
        let rank = |stage: i64| ranks[stage as usize];
        for (step, start, end) in steps {
            let from = source(own, *step, num_stages, num_chunks);
            if let Some((other, _)) = from.filter(|(other, _)| *other != own) {
                message(&mut events, ("recv", rank(own), rank(other)), free, (start - free).max(1), id);
                id += 1;
            }
            mark(&mut events, marks, (own, num_stages), *step, id);
            put(&mut events, if step.is_forward { "gemm_fwd" } else { "gemm_bwd" }, 7, *start, end - start, id);
            id += 1;
            // Who takes it: the step of which this is the source.
            let taker =
                (0..num_stages).flat_map(|other| (0..num_chunks).map(move |chunk| (other, Step { chunk, ..*step })));
            let taker = taker.filter(|(other, to)| source(*other, *to, num_stages, num_chunks) == Some((own, *step)));
            for (other, _) in taker.filter(|(other, _)| *other != own) {
                message(&mut events, ("send", rank(own), rank(other)), *end, 1, id);
                id += 1;
            }
            free = *end;
        }
        let document = json!({"distributedInfo": {"rank": rank(own), "world_size": num_stages}, "traceEvents": events});
        let trace = read([Input::new(document.to_string().as_bytes())], Limits::default()).unwrap();
        (Some(rank(own)), Arc::new(LinkedTrace::new(trace)))
    };
    done.iter().enumerate().map(stage).collect()
}

pub(crate) fn usual(_: i64, step: Step) -> i64 {
    if step.is_forward { 100 } else { 200 }
}

/// Ranks that the findings call stragglers.
fn found(traces: &[RankedTrace]) -> Vec<Value> {
    let answer = asked("findings", traces, &json!({}));
    let found = rows(&answer, "findings", &["finding", "rank"]);
    found.into_iter().filter(|row| row[0] == json!("straggler")).map(|row| row[1].clone()).collect()
}

fn bubbles(traces: &[RankedTrace]) -> Vec<Vec<Value>> {
    let answer = asked("stragglers", traces, &json!({}));
    let mut found = rows(&answer, "stragglers", &["rank", "caused_wait_ns", "bubble_ns", "bubble_share"]);
    found.sort_by_key(|row| row[0].as_i64());
    found
}

#[test]
fn nobody_is_blamed_in_a_balanced_pipeline_whose_bubble_is_told() {
    // Of (stages − 1 + batches) × 300 µs, each stage works batches × 300 µs.
    let traces = traces(&gpipe(2, 4), &usual);
    assert_eq!(found(&traces), Vec::<Value>::new());
    assert_eq!(json!(bubbles(&traces)), json!([[0, 0, 300_000, 0.2], [1, 0, 300_000, 0.2]]));
    assert_alike(&traces, &json!({}));
}

#[test]
fn no_schedule_makes_a_straggler() {
    for (name, schedule) in [
        ("GPipe", gpipe(4, 6)),
        ("1F1B", one_forward_one_backward(4, 8)),
        ("1F1B of few batches", one_forward_one_backward(4, 2)),
        ("interleaved", interleaved(4, 4)),
    ] {
        let traces = traces(&schedule, &usual);
        assert_eq!(found(&traces), Vec::<Value>::new(), "{name}");
        let told = bubbles(&traces);
        assert!(told.iter().all(|row| row[1] == json!(0) && row[2].as_i64() > Some(0)), "{name}: {told:?}");
    }
}

#[test]
fn a_slow_stage_is_found_in_each_schedule() {
    for (name, schedule) in
        [("GPipe", gpipe(4, 6)), ("1F1B", one_forward_one_backward(4, 8)), ("interleaved", interleaved(4, 4))]
    {
        for slow in 0..4 {
            let dur = |stage: i64, step: Step| usual(stage, step) * if stage == slow { 2 } else { 1 };
            let traces = traces(&schedule, &dur);
            assert_eq!(found(&traces), [json!(slow)], "{name}, stage {slow}");
            let answer = asked("stragglers", &traces, &json!({}));
            let first = rows(&answer, "stragglers", &["rank", "cause"]).remove(0);
            assert_eq!(json!(first), json!([slow, "compute"]), "{name}");
            assert_alike(&traces, &json!({}));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn jitter_blames_nobody_and_parts_add_up(
        num_stages in 2..5_i64, num_batches in 1..6_i64, jitter in prop::collection::vec(0..3_i64, 64), kind in 0..3,
    ) {
        let schedule = match kind {
            0 => gpipe(num_stages, num_batches),
            1 => one_forward_one_backward(num_stages, num_batches),
            _ => interleaved(num_stages, num_batches),
        };
        let dur = |stage: i64, step: Step| {
            let at = (stage * 31 + step.batch * 7 + step.chunk * 3 + i64::from(step.is_forward)) % 64;
            usual(stage, step) + jitter[at as usize]
        };
        let traces = traces(&schedule, &dur);
        prop_assert_eq!(found(&traces), Vec::<Value>::new());
        let work: i64 = run(&schedule, &dur).iter().flatten().map(|(_, start, end)| end - start).sum();
        let told = bubbles(&traces);
        let span = run(&schedule, &dur).iter().flatten().map(|(.., end)| *end).max().unwrap() - 100;
        let idle: i64 = told.iter().filter_map(|row| row[2].as_i64()).sum();
        prop_assert_eq!(idle, (span * num_stages - work) * 1_000);
    }
}

/// Traces of a pipeline in which the host of a stage is late in each of two iterations: at its
/// first micro-batch, by so many microseconds.
fn late_host(num_stages: i64, late_stage: i64, late: i64) -> Vec<RankedTrace> {
    let schedule = gpipe(num_stages, 4);
    let usual_run = run(&schedule, &usual);
    let length = usual_run.iter().flatten().map(|(.., end)| *end).max().unwrap() + late + 500;
    let stage = |own: i64| {
        let (mut events, mut id) = (Vec::new(), 0);
        for iteration in 0..2 {
            let base = 10_000 + iteration * length;
            events.push(json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{iteration}"),
                "pid": 1, "tid": 1, "ts": base, "dur": length - 10}));
            let (first, mut free) = (base + if own == late_stage { late } else { 0 }, base + 100);
            free = free.max(first + 100);
            for (at, (step, start, end)) in usual_run[own as usize].iter().enumerate() {
                // All stages from the late one on are late, and so is the way back.
                let is_late = own >= late_stage || !step.is_forward;
                let moved = |time: i64| base + time + if is_late { late } else { 0 };
                let launch = (first + at as i64 * 10).max(base) as usize;
                if let Some((other, _)) = source(own, *step, num_stages, 1).filter(|(other, _)| *other != own) {
                    let ready = moved(*start);
                    message_at(&mut events, ("recv", own, other), (free, (ready - free).max(1)), (launch, id));
                    id += 1;
                }
                put_at(&mut events, "gemm", 7, (moved(*start), end - start), (launch + 3, id));
                id += 1;
                let other = if step.is_forward { own + 1 } else { own - 1 };
                if (0..num_stages).contains(&other) {
                    message_at(&mut events, ("send", own, other), (moved(*end), 1), (launch + 6, id));
                    id += 1;
                }
                free = moved(*end);
            }
        }
        let document = json!({"distributedInfo": {"rank": own, "world_size": num_stages}, "traceEvents": events});
        let trace = read([Input::new(document.to_string().as_bytes())], Limits::default()).unwrap();
        (Some(own), Arc::new(LinkedTrace::new(trace)))
    };
    (0..num_stages).map(stage).collect()
}

#[test]
fn a_stage_whose_host_begins_late_is_found() {
    assert_eq!(found(&late_host(4, 0, 0)), Vec::<Value>::new());
    for stage in 0..3 {
        let traces = late_host(4, stage, 3_000);
        let answer = asked("stragglers", &traces, &json!({}));
        let first = rows(&answer, "stragglers", &["rank", "cause", "caused_wait_ns"]).remove(0);
        assert_eq!(json!(first[..2]), json!([stage, "host"]), "stage {stage}");
        let caused = first[2].as_i64().unwrap();
        assert!((5_500_000..6_500_000).contains(&caused), "stage {stage} caused {caused} ns");
        assert_eq!(found(&traces), [json!(stage)], "stage {stage}");
        assert_alike(&traces, &json!({}));
    }
}
