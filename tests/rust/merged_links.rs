//! Tests that device events of merged ranks belong to launches of their own rank, or to none.

use kinetoscope::edit::split;
use kinetoscope::link::{LinkMethod, MergedRanks};
use kinetoscope::{LinkedTrace, WarningKind};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// How a file tells its ranks apart.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Label {
    Argument,
    Name,
    Pid,
    None,
}

/// A call with its device event, both with the number of their rank in `true`: at `start`, with a
/// correlation id. The call may be older than the recording.
#[derive(Debug, Clone, Copy)]
struct Work {
    rank: i64,
    start: i64,
    id: i64,
    is_old: bool,
}

/// Times between the work of a rank, gaps in its ids, and whether calls are old.
type Steps = Vec<(i64, i64, bool)>;

fn work(rank: i64, steps: &Steps) -> Vec<Work> {
    let (mut start, mut id) = (100, 0);
    let mut list = Vec::new();
    for (at, (gap, skipped, is_old)) in steps.iter().enumerate() {
        start += gap;
        id += 1 + skipped;
        // Only the first may be older than the recording.
        let is_old = *is_old && at < 2 && list.iter().all(|work: &Work| work.is_old);
        list.push(Work { rank, start, id, is_old });
    }
    list
}

/// The events of work. Ranks share their GPU's number, and their pid if `is_one_pid`.
fn events(work: &[Work], label: Label, is_one_pid: bool) -> Vec<Value> {
    let mut events = Vec::new();
    for Work { rank, start, id, is_old } in work {
        let host = if is_one_pid { 9 } else { 1_000 + rank };
        let mut event = |category: &str, name: &str, place: (i64, i64), start: i64, mut args: Value| {
            args["true"] = json!(rank);
            let mut event = json!({"ph": "X", "cat": category, "name": name, "pid": place.0, "tid": place.1, "ts": start, "dur": 2});
            match label {
                Label::Argument => args["rank"] = json!(rank),
                Label::Name => event["name"] = json!(format!("[R{rank}] {name}")),
                Label::Pid => event["pid"] = json!(format!("[TP{rank}] {}", place.0)),
                Label::None => {}
            }
            event["args"] = args;
            events.push(event);
        };
        if !is_old {
            event("cuda_runtime", "cudaLaunchKernel", (host, host), *start, json!({"correlation": id}));
        }
        let args = json!({"correlation": id, "device": 0, "stream": 7});
        event("kernel", "k", (0, 7), start + 30, args);
    }
    events
}

fn linked(events: &[Value]) -> LinkedTrace {
    LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string()))
}

/// How many device events have a launch of their rank, one of another rank, and none.
fn tally(linked: &LinkedTrace) -> [usize; 3] {
    let trace = &linked.trace;
    let rank = |row: usize| {
        let mut pairs = trace.args.pairs(&trace.strings, trace.events.args(row));
        pairs.find(|(key, _)| *key == "true").unwrap().1
    };
    let mut tally = [0; 3];
    for row in (0..trace.events.len()).filter(|row| trace.events.kind[*row].is_device_work()) {
        let launch = linked.links.launch.get(row);
        tally[launch.map_or(2, |launch| usize::from(rank(launch as usize) != rank(row)))] += 1;
    }
    tally
}

fn count(linked: &LinkedTrace, kind: WarningKind) -> u64 {
    linked.warnings().find(|one| one.kind == kind).map_or(0, |one| one.count)
}

fn by_time(mut events: Vec<Value>) -> Vec<Value> {
    events.sort_by_key(|event| event["ts"].as_i64());
    events
}

fn steps() -> impl Strategy<Value = Steps> {
    prop::collection::vec((40..90_i64, 0..3_i64, any::<bool>()), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn labels_tell_the_launches_of_ranks_apart(
        ranks in prop::collection::vec(steps(), 2..4),
        label in prop::sample::select(&[Label::Argument, Label::Name, Label::Pid][..]),
        is_one_pid in any::<bool>(),
        is_sorted in any::<bool>(),
    ) {
        let work: Vec<Work> = ranks.iter().enumerate().flat_map(|(rank, steps)| work(rank as i64, steps)).collect();
        let events = events(&work, label, is_one_pid);
        let linked = linked(&if is_sorted { by_time(events) } else { events });
        let num_old = work.iter().filter(|work| work.is_old).count();
        prop_assert_eq!(tally(&linked), [work.len() - num_old, 0, num_old]);
        prop_assert_eq!(count(&linked, WarningKind::AmbiguousLaunch), 0);
    }

    #[test]
    fn work_that_may_be_of_two_ranks_is_of_none(ranks in prop::collection::vec(steps(), 2..4)) {
        let work: Vec<Work> = ranks.iter().enumerate().flat_map(|(rank, steps)| work(rank as i64, steps)).collect();
        // An event whose launch is older is not told from one of another rank with the same number
        // that lost its launch.
        let is_used = |one: &Work, is_old| work.iter().any(|other| other.rank != one.rank && other.id == one.id && other.is_old == is_old);
        let linked = linked(&by_time(events(&work, Label::None, false)));
        let [own, of_others, without] = tally(&linked);
        let certain = work.iter().filter(|one| !one.is_old && !is_used(one, true) && !is_used(one, false)).count();
        let is_mixed = work.iter().any(|one| !one.is_old && is_used(one, false));
        if is_mixed {
            prop_assert!(own >= certain, "{} of {}", own, certain);
            prop_assert_eq!(of_others, 0);
            let counted = [WarningKind::AmbiguousLaunch, WarningKind::MissingLaunch, WarningKind::UnrecordedLaunch];
            prop_assert_eq!(without as u64, counted.iter().map(|kind| count(&linked, *kind)).sum::<u64>());
        }
    }
}

#[test]
fn calls_of_ranks_that_follow_one_another_by_chance_make_no_blocks() {
    let old = |start, id| (start, id, true);
    let new = |start, id| (start, id, false);
    let ranks: [Vec<Steps>; 2] = [
        vec![vec![new(76, 1)], vec![old(40, 1)], vec![new(46, 1)]],
        vec![vec![new(50, 0)], vec![old(40, 0), new(40, 1), new(40, 0)], vec![new(50, 0)]],
    ];
    for ranks in ranks {
        let work: Vec<Work> = ranks.iter().enumerate().flat_map(|(rank, steps)| work(rank as i64, steps)).collect();
        assert_eq!(tally(&linked(&by_time(events(&work, Label::None, false))))[1], 0, "{work:?}");
    }
}

/// Two ranks whose work alternates, with the same ids.
fn alike() -> Vec<Value> {
    let rank = |rank: i64| (1..=6).map(move |id| Work { rank, start: 100 * id + 40 * rank, id, is_old: false });
    events(&rank(0).chain(rank(1)).collect::<Vec<_>>(), Label::None, false)
}

#[test]
fn external_ids_and_flows_tell_unlabelled_ranks_apart() {
    let plain = linked(&by_time(alike()));
    assert_eq!((tally(&plain), count(&plain, WarningKind::AmbiguousLaunch)), ([0, 0, 12], 12));
    let mut named = alike();
    for event in &mut named {
        event["args"]["External id"] =
            json!(event["args"]["correlation"].as_i64().unwrap() + 10 * event["args"]["true"].as_i64().unwrap());
    }
    assert_eq!(tally(&linked(&by_time(named))), [12, 0, 0]);
    for (per_rank, expected) in [(10, [12, 0, 0]), (0, [0, 0, 12])] {
        let mut drawn = alike();
        let flow = |event: &Value| {
            let id =
                event["args"]["correlation"].as_i64().unwrap() + per_rank * event["args"]["true"].as_i64().unwrap();
            let phase = if event["cat"] == "kernel" { "f" } else { "s" };
            json!({"ph": phase, "id": id, "pid": event["pid"], "tid": event["tid"], "ts": event["ts"], "cat": "ac2g", "name": "ac2g", "bp": "e"})
        };
        let flows: Vec<Value> = drawn.iter().map(flow).collect();
        drawn.extend(flows);
        let linked = linked(&by_time(drawn));
        assert_eq!(tally(&linked), expected, "flow ids of each rank: {per_rank}");
        let methods = (0..24_u32).filter(|row| linked.links.launched.how(*row) == LinkMethod::Flow).count();
        assert_eq!(methods, expected[0]);
    }
}

#[test]
fn a_call_that_enqueues_no_such_work_is_of_another_rank() {
    let mut events = alike();
    // Rank 1 launched the kernel of this number before the recording; rank 0 waited then.
    for (name, of_rank_0) in [("cudaStreamSynchronize", 20), ("cudaMemcpyAsync", 21)] {
        events.push(
            json!({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1_000, "tid": 1_000, "ts": 90, "dur": 1,
            "args": {"correlation": of_rank_0, "true": 0}}),
        );
        events.push(json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 95, "dur": 1,
            "args": {"correlation": of_rank_0, "device": 0, "stream": 7, "true": 1}}));
    }
    assert_eq!(tally(&linked(&by_time(events))), [0, 0, 14]);
}

#[test]
fn the_recording_of_each_rank_begins_with_its_own_launches() {
    let rank = |rank: i64, first: i64| {
        (1..=9).map(move |at| Work { rank, start: 100 * at + 7 * rank, id: first + at, is_old: rank == 1 && at < 4 })
    };
    let work: Vec<Work> = rank(0, 0).chain(rank(1, 20)).collect();
    for (label, is_sorted) in
        [(Label::Argument, true), (Label::Name, true), (Label::Argument, false), (Label::Pid, true)]
    {
        let events = events(&work, label, false);
        let linked = linked(&if is_sorted { by_time(events) } else { events });
        let counts = [WarningKind::UnrecordedLaunch, WarningKind::MissingLaunch].map(|kind| count(&linked, kind));
        assert_eq!(counts, [3, 0], "{label:?} {is_sorted}");
    }
}

#[test]
fn work_of_an_unknown_rank_has_no_launch_in_the_first() {
    let unique = |rank: i64| {
        (1..=6).map(move |id| Work { rank, start: 1_000 + 100 * id, id: id + 100 * (rank + 1), is_old: false })
    };
    let mut all = alike();
    all.extend(events(&unique(0).chain(unique(1)).collect::<Vec<_>>(), Label::None, false));
    let linked = linked(&by_time(all));
    assert_eq!(tally(&linked), [12, 0, 12]);
    let parts = split(&linked, &MergedRanks::of(&linked).unwrap());
    let tallies: Vec<_> = parts.iter().map(|part| tally(&LinkedTrace::new(part.trace.clone()))).collect();
    assert_eq!(tallies, [[6, 0, 12], [6, 0, 0]]);
    assert_eq!(parts[0].trace.warnings.count(WarningKind::WithoutRank), 12);
}
