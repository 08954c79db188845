//! Tests that the ranks of a merged file are read as their own files are.

use std::sync::Arc;

use kinetoscope::analyze::analysis;
use kinetoscope::edit::{RankTrace, separate_devices, split};
use kinetoscope::link::{MergedRanks, RankOrigin};
use kinetoscope::{LinkedTrace, WarningKind};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// One step: an operator with a launch and a kernel, both lasting so long.
type Step = (u8, i64, i64);

/// The file of one rank as Kineto writes it: metadata first, then events with arrows, a counter, a
/// memory instant, and the profiler's own span.
fn single(host: i64, device: i64, steps: &[Step]) -> Vec<Value> {
    later(host, device, 0, steps)
}

/// The same, so many microseconds later.
fn later(host: i64, device: i64, shift: i64, steps: &[Step]) -> Vec<Value> {
    let mut events = vec![
        json!({"ph": "M", "name": "process_name", "pid": host, "tid": 0, "ts": 0, "args": {"name": "python"}}),
        json!({"ph": "M", "name": "process_labels", "pid": host, "tid": 0, "ts": 0, "args": {"labels": "CPU"}}),
        json!({"ph": "M", "name": "process_labels", "pid": device, "tid": 0, "ts": 0, "args": {"labels": format!("GPU {device}")}}),
        json!({"ph": "M", "name": "thread_name", "pid": host, "tid": host, "ts": 0, "args": {"name": "thread main"}}),
        json!({"ph": "M", "name": "thread_name", "pid": device, "tid": 7, "ts": 0, "args": {"name": "stream 7"}}),
    ];
    let mut event = |category: &str, name: &str, place: (i64, i64), time: (i64, i64), args: Value| {
        events.push(json!({"ph": "X", "cat": category, "name": name, "pid": place.0, "tid": place.1, "ts": time.0, "dur": time.1, "args": args}));
    };
    let mut free = 0;
    for (at, (name, gap, dur)) in steps.iter().enumerate() {
        let (id, start) = (at as i64 + 1, 1_000 * (at as i64 + 1) + shift);
        event("user_annotation", &format!("ProfilerStep#{at}"), (host, host), (start, 900), json!({}));
        event("cpu_op", &format!("aten::op{name}"), (host, host), (start + 10, 200), json!({"External id": id}));
        let args = json!({"External id": id, "correlation": id});
        event("cuda_runtime", "cudaLaunchKernel", (host, host), (start + 20 + gap, 5), args.clone());
        let run = (start + 40 + gap).max(free);
        free = run + dur;
        let args = json!({"External id": id, "correlation": id, "device": device, "stream": 7});
        event("kernel", &format!("kernel{name}"), (device, 7), (run, *dur), args);
    }
    let launches: Vec<Value> =
        events.iter().filter(|event| event["args"]["correlation"].is_number()).cloned().collect();
    events.extend(launches.iter().map(|event| {
        let phase = if event["cat"] == "kernel" { "f" } else { "s" };
        json!({"ph": phase, "id": event["args"]["correlation"], "pid": event["pid"], "tid": event["tid"],
            "ts": event["ts"], "cat": "ac2g", "name": "ac2g", "bp": "e"})
    }));
    events.push(json!({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": host, "tid": host, "ts": 1_050, "s": "t", "args": {"Bytes": 512}}));
    events.push(json!({"ph": "C", "name": "load", "pid": host, "tid": 0, "ts": 1_060, "args": {"value": 3}}));
    events.push(json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 900, "dur": 100_000}));
    events
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64()
}

/// A way in which mergers tell ranks apart.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Style {
    /// `[TP00] 4242`, as `SGLang` does.
    Bracket,
    /// Numbers moved on, with `rank` in the arguments and in the names of processes, as
    /// `TraceLens` does.
    Offset,
    /// The same without names of processes.
    Argument,
    /// One `pid` for all of a rank, named `Rank 3`.
    OnePid,
    /// `rank_3_Spans`, and numbers moved on without a word; `[R3] ` before each name.
    NamePrefix,
    /// `rank 3: 4242`.
    TextPid,
    /// Nothing: processes and devices differ.
    Plain,
}

const STYLES: [Style; 7] =
    [Style::Bracket, Style::Offset, Style::Argument, Style::OnePid, Style::NamePrefix, Style::TextPid, Style::Plain];

/// Rewrites the events of a rank as a merger does.
fn relabelled(style: Style, rank: i64, mut events: Vec<Value>) -> Vec<Value> {
    for event in &mut events {
        let pid = event["pid"].clone();
        let text = pid.as_str().map_or_else(|| pid.to_string(), str::to_owned);
        match style {
            Style::Bracket => event["pid"] = json!(format!("[TP{rank:02}] {text}")),
            Style::TextPid => event["pid"] = json!(format!("rank {rank}: {text}")),
            Style::OnePid => event["pid"] = json!(rank + 1),
            Style::Plain => {}
            Style::NamePrefix => {
                event["name"] = json!(format!("[R{rank}] {}", event["name"].as_str().unwrap()));
                event["pid"] =
                    number(&pid).map_or_else(|| json!(format!("rank{rank}_{text}")), |pid| json!(pid + rank * 1_000));
            }
            Style::Offset | Style::Argument => {
                if let Some(pid) = number(&pid) {
                    event["pid"] = json!(pid + rank * 1_000_000);
                }
                if let Some(id) = number(&event["id"]) {
                    event["id"] = json!(id + rank * 1_000);
                }
                if let Some(id) = number(&event["args"]["correlation"]) {
                    event["args"]["correlation"] = json!(id + rank * 1_000);
                }
                if event["ph"] != "C" {
                    event["args"]["rank"] = json!(rank);
                }
            }
        }
    }
    let names: &[(&str, i64)] = match style {
        Style::OnePid => &[("Rank", 0)],
        Style::Offset => &[("RANK", 0), ("RANK", 1)],
        _ => &[],
    };
    let pids: Vec<Value> = {
        let mut pids: Vec<Value> =
            events.iter().filter(|event| event["pid"].is_i64()).map(|event| event["pid"].clone()).collect();
        pids.sort_by_key(number);
        pids.dedup();
        pids
    };
    if style == Style::Offset {
        events.retain(|event| event["ph"] != "M" || event["name"] == "thread_name");
    }
    for (pid, (word, _)) in pids.iter().zip(names) {
        let name = if style == Style::Offset { format!("{word} {rank} - CPU") } else { format!("{word} {rank}") };
        events.push(json!({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}));
    }
    events
}

fn read(events: &[Value]) -> Arc<LinkedTrace> {
    let header = json!({"traceEvents": events, "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100"}, {"id": 0, "name": "H100"}]});
    Arc::new(LinkedTrace::new(files::trace(&header.to_string())))
}

fn parts(events: &[Value]) -> Vec<RankTrace> {
    let linked = read(events);
    MergedRanks::of(&linked).map_or_else(Vec::new, |merged| split(&linked, &merged))
}

/// The facts that a reader of a trace sees, without ids.
fn facts(linked: &Arc<LinkedTrace>) -> Vec<String> {
    let (trace, links) = (&linked.trace, &linked.links);
    let name = |row: u32| format!("{}@{}", trace.event_name(row as usize), trace.events.start.at(row as usize).0);
    let device_of = |row: usize| trace.device(row);
    let mut facts: Vec<String> = (0..trace.events.len())
        .map(|row| {
            let of = |row: Option<u32>| row.map(name);
            let iteration = links.iteration.get(row).map(|at| links.iterations[at as usize].number);
            format!(
                "{} {:?} for {} on {:?}: {:?} {:?} {:?} {iteration:?}",
                name(row as u32),
                trace.events.kind[row],
                trace.events.dur.at(row).0,
                device_of(row),
                of(links.launch.get(row)),
                of(links.operator.get(row)),
                of(links.nesting.parent.get(row)),
            )
        })
        .collect();
    for (question, table) in [("breakdown", 0), ("operators", 0), ("idle", 0)] {
        let answer = analysis(question).unwrap().answer(linked, "{}").unwrap();
        let mut rows = files::rows(&*answer.tables[table]);
        for row in rows.iter_mut().filter_map(Value::as_object_mut) {
            row.retain(|key, _| {
                !key.ends_with("id") && key != "before" && key != "after" && key != "launch" && key != "evidence"
            });
        }
        facts.extend(rows.iter().map(|row| format!("{question}: {row}")));
    }
    let edges =
        linked.edge_list().iter().map(|edge| format!("{:?} {} → {}", edge.kind, name(edge.source), name(edge.target)));
    facts.extend(edges);
    facts.push(format!(
        "{} instants, {} counters, {} flows",
        trace.instants.len(),
        trace.counters.len(),
        trace.flows.len()
    ));
    facts.sort_unstable();
    facts
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..3_u8, 0..30_i64, 1..400_i64), 1..6)
}

/// Orders in which mergers write elements.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    RankByRank,
    Time,
    Shuffled(u64),
}

fn in_order(mut events: Vec<Value>, order: Order) -> Vec<Value> {
    let noise = |at: usize, seed: u64| (at as u64 + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7;
    match order {
        Order::RankByRank => {}
        Order::Time => events.sort_by_key(|event| event["ts"].as_i64()),
        Order::Shuffled(seed) => {
            let mut numbered: Vec<_> = events.into_iter().enumerate().collect();
            numbered.sort_by_key(|(at, _)| noise(*at, seed));
            events = numbered.into_iter().map(|(_, event)| event).collect();
        }
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn ranks_of_a_merged_file_are_read_as_their_own_files(
        ranks in prop::collection::vec(steps(), 2..4),
        style in prop::sample::select(&STYLES[..]),
        order in prop_oneof![Just(Order::RankByRank), Just(Order::Time), any::<u64>().prop_map(Order::Shuffled)],
        share_device in any::<bool>(),
    ) {
        // Without labels, devices must differ, unless one rank follows the other.
        let same_device = share_device && (style != Style::Plain || order == Order::RankByRank);
        // Where a file without labels mixes ranks, only times tell whose a kernel is.
        let needs_times = style == Style::Plain && order != Order::RankByRank;
        let shift = if needs_times { 100 } else { 0 };
        let files: Vec<Vec<Value>> = ranks
            .iter()
            .enumerate()
            .map(|(rank, steps)| (rank as i64, if needs_times { steps.repeat(5) } else { steps.clone() }))
            .map(|(rank, steps)| later(4_242 + 10 * rank, if same_device { 0 } else { rank }, shift * rank, &steps))
            .collect();
        let merged = files.iter().enumerate().flat_map(|(rank, events)| relabelled(style, rank as i64, events.clone()));
        let found = parts(&in_order(merged.collect(), order));
        prop_assert_eq!(found.len(), files.len());
        for (rank, (part, events)) in found.iter().zip(&files).enumerate() {
            prop_assert_eq!(part.rank.rank, rank as i64);
            let own = read(events);
            if needs_times {
                // The times of launches and kernels do not always tell the ranks apart.
                continue;
            }
            let linked = Arc::new(LinkedTrace::new(part.trace.clone()));
            prop_assert_eq!(without_spans(facts(&linked)), without_spans(facts(&own)), "rank {}", rank);
            prop_assert_eq!(linked.trace.rank(), Some(rank as i64));
            prop_assert!(MergedRanks::of(&linked).is_none(), "a part is one rank");
        }
        let num_rows: usize = found.iter().map(|part| part.trace.events.len()).sum();
        prop_assert_eq!(num_rows, files.iter().flatten().filter(|event| event["ph"] == "X").count(), "nothing is lost");
    }
}

fn without_spans(mut facts: Vec<String>) -> Vec<String> {
    facts.retain(|fact| !fact.starts_with("PyTorch Profiler"));
    facts
}

fn pair(style: Style, order: Order, devices: [i64; 2]) -> Vec<Value> {
    let steps = [[(0, 5, 100), (1, 5, 100)], [(0, 5, 150), (1, 5, 150)]];
    let file = |rank: usize| relabelled(style, rank as i64, single(4_242 + rank as i64, devices[rank], &steps[rank]));
    in_order([file(0), file(1)].concat(), order)
}

#[test]
fn each_rank_knows_where_its_number_comes_from() {
    let origins = |style, devices| {
        let found = parts(&pair(style, Order::RankByRank, devices));
        found.into_iter().map(|part| (part.rank.rank, part.rank.label, part.rank.origin)).collect::<Vec<_>>()
    };
    let told = |rank, label: &str, origin| (rank, label.to_owned(), origin);
    let of =
        |labels: [&str; 2], numbers: [i64; 2], origin| [0, 1].map(|at| told(numbers[at], labels[at], origin)).to_vec();
    assert_eq!(origins(Style::Bracket, [0, 0]), of(["TP0", "TP1"], [0, 1], RankOrigin::Label));
    assert_eq!(origins(Style::OnePid, [0, 0]), of(["rank 0", "rank 1"], [0, 1], RankOrigin::Label));
    let processes = ["process 4242", "process 4243"];
    assert_eq!(origins(Style::Plain, [2, 5]), of(processes, [2, 5], RankOrigin::Device));
    assert_eq!(origins(Style::Plain, [0, 0]), of(processes, [0, 1], RankOrigin::Order));
}

#[test]
fn rows_of_no_rank_are_counted_and_kept_with_the_first() {
    let blocks = parts(&pair(Style::Plain, Order::RankByRank, [0, 1]));
    let count =
        |parts: &[RankTrace], kind| parts.iter().map(|part| part.trace.warnings.count(kind)).collect::<Vec<_>>();
    assert_eq!(count(&blocks, WarningKind::WithoutRank), [0, 0], "the place in the file tells");
    let mixed = parts(&pair(Style::Plain, Order::Time, [0, 1]));
    assert_eq!(count(&mixed, WarningKind::WithoutRank), [2, 0], "two spans of the profiler");
    let spans = |part: &RankTrace| {
        (0..part.trace.events.len()).filter(|row| part.trace.event_name(*row).starts_with("PyTorch")).count()
    };
    assert_eq!(
        (mixed.iter().map(spans).collect::<Vec<_>>(), blocks.iter().map(spans).collect::<Vec<_>>()),
        (vec![2, 0], vec![1, 1])
    );
}

#[test]
fn ids_lead_back_to_the_merged_file() {
    for order in [Order::RankByRank, Order::Time] {
        let events = pair(Style::Bracket, order, [0, 0]);
        for part in parts(&events) {
            for row in 0..part.trace.events.len() {
                let id = part.ids[part.trace.events.position.at(row) as usize];
                assert_eq!(events[id as usize]["name"], part.trace.event_name(row));
            }
        }
    }
}

#[test]
fn facts_of_one_rank_stay_with_it() {
    let events = pair(Style::TextPid, Order::RankByRank, [0, 0]);
    let header = json!({"traceEvents": events, "distributedInfo": {"rank": 1, "world_size": 2, "backend": "nccl", "pg_config": [1]}});
    let linked = LinkedTrace::new(files::trace(&header.to_string()));
    let parts = split(&linked, &MergedRanks::of(&linked).unwrap());
    let of = |at: usize| parts[at].trace.header_value("distributedInfo").unwrap();
    assert_eq!(of(0), json!({"rank": 0, "world_size": 2, "backend": "nccl"}));
    assert_eq!(of(1), json!({"rank": 1, "world_size": 2, "backend": "nccl", "pg_config": [1]}));
    let edits = parts[1].trace.header_value("kinetoscope_edits").unwrap();
    assert_eq!(edits, json!([{"edit": "split", "rank": 1, "label": "rank 1", "rank_from": "label", "num_ranks": 2}]));
}

#[test]
fn devices_of_two_ranks_stay_two_in_one_trace() {
    let devices = |style, numbers| {
        let linked = read(&pair(style, Order::RankByRank, numbers));
        let merged = MergedRanks::of(&linked).unwrap();
        let separate = separate_devices(&linked, &merged);
        let is_new = separate.is_some();
        let linked = separate.map_or(linked, |trace| Arc::new(LinkedTrace::new(trace)));
        let answer = analysis("breakdown").unwrap().answer(&linked, r#"{"per":"selection"}"#).unwrap();
        let rows = files::rows(&*answer.tables[0]);
        (is_new, rows.iter().map(|row| (row["device"].clone(), row["busy_ns"].clone())).collect::<Vec<_>>())
    };
    let both = vec![(json!(0), json!(200_000)), (json!(1), json!(300_000))];
    assert_eq!(devices(Style::Bracket, [0, 0]), (true, both.clone()), "a device of each pid");
    assert_eq!(devices(Style::Plain, [0, 0]), (true, both.clone()), "one track for both");
    assert_eq!(devices(Style::Plain, [0, 1]), (false, both));
}

#[test]
fn one_rank_is_never_split() {
    let step = (0, 5, 100);
    let one =
        |more: &[Value]| MergedRanks::of(&read(&[single(4_242, 0, &[step, step]), more.to_vec()].concat())).is_none();
    assert!(one(&[]));
    let helper = |category: &str, name: &str| json!({"ph": "X", "cat": category, "name": name, "pid": 5_000, "tid": 1, "ts": 1_000, "dur": 5});
    assert!(one(&[helper("cpu_op", "aten::stack")]), "a data loader");
    assert!(one(&[helper("cuda_runtime", "cudaGetDeviceCount")]), "calls without device work");
    assert!(one(&[helper("python_function", "loader.py(3): next")]), "a helper without operators");
    // One process, eight GPUs, with a stream of each.
    let gpus: Vec<Value> = (1..8)
        .flat_map(|gpu| {
            let args = json!({"correlation": 100 + gpu, "device": gpu, "stream": 7});
            [
                json!({"ph": "M", "name": "process_labels", "pid": gpu, "tid": 0, "args": {"labels": format!("GPU {gpu}")}}),
                json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4_242, "tid": 4_242, "ts": 5_000 + gpu * 10, "dur": 5, "args": args}),
                json!({"ph": "X", "cat": "kernel", "name": "k", "pid": gpu, "tid": 7, "ts": 6_000, "dur": 5, "args": args}),
            ]
        })
        .collect();
    assert!(one(&gpus));
    // Users name things after ranks, too.
    let named = json!({"ph": "X", "cat": "user_annotation", "name": "[R1] step", "pid": 4_242, "tid": 9, "ts": 1, "dur": 1, "args": {"rank": 1}});
    assert!(one(&[named]));
    let renamed =
        json!({"ph": "M", "name": "process_name", "pid": 4_242, "tid": 0, "args": {"name": "VLLM::Worker_TP1"}});
    assert!(one(&[renamed]));
}

/// Exports of Nsight Systems state the process of device work, and number GPUs as the machine does.
#[test]
fn processes_that_share_a_gpu_of_the_machine_are_one_recording() {
    let processes = |devices: [i64; 2]| {
        let events: Vec<Value> = [(11, devices[0]), (12, devices[1])]
            .into_iter()
            .enumerate()
            .flat_map(|(at, (pid, device))| {
                let start = 100 * at as i64;
                let args = json!({"correlation": 1, "device": device, "stream": 7, "process id": pid});
                [
                    json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid, "tid": 1, "ts": start, "dur": 5, "args": {"correlation": 1}}),
                    json!({"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": 7, "ts": start + 10, "dur": 5, "args": args}),
                ]
            })
            .collect();
        parts(&events).len()
    };
    assert_eq!(processes([0, 1]), 2);
    assert_eq!(processes([0, 0]), 0);
}

#[test]
fn processes_without_devices_are_ranks_if_they_communicate() {
    let rank = |pid: i64, name: &str| json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": 1, "ts": pid, "dur": 5});
    assert_eq!(parts(&[rank(1, "c10d::allreduce_"), rank(2, "c10d::allreduce_")]).len(), 2);
    assert_eq!(parts(&[rank(1, "aten::mm"), rank(2, "aten::mm")]).len(), 0);
    assert_eq!(parts(&[rank(1, "c10d::allreduce_"), rank(2, "aten::mm")]).len(), 0);
}

#[test]
fn labels_of_several_dimensions_are_numbered_in_order() {
    let rank = |label: &str| json!({"ph": "X", "cat": "cpu_op", "name": label, "pid": format!("[{label}] 7"), "tid": 1, "ts": 1, "dur": 5});
    let labels = ["TP01-PP00", "TP00-PP01", "TP00-PP00", "TP01-PP01"];
    let found = parts(&labels.map(rank));
    let told: Vec<_> = found.iter().map(|part| (part.rank.rank, part.trace.event_name(0), part.rank.origin)).collect();
    let expected = ["TP00-PP00", "TP01-PP00", "TP00-PP01", "TP01-PP01"];
    assert_eq!(
        told,
        expected.iter().enumerate().map(|(at, label)| (at as i64, *label, RankOrigin::Order)).collect::<Vec<_>>()
    );
}

/// Hostile files may claim a rank for each event.
#[test]
fn files_of_very_many_ranks_stay_whole() {
    let rank = |number: i64| {
        let pid = format!("rank {number}: 7");
        json!({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": pid, "tid": number, "ts": number, "dur": 5})
    };
    assert_eq!(parts(&(0..1_024).map(rank).collect::<Vec<_>>()).len(), 1_024);
    assert_eq!(parts(&(0..50_000).map(rank).collect::<Vec<_>>()).len(), 0);
}
