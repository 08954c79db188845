//! Tests the machines of ranks: the rules that tell them, and communication inside and between.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::RankedTrace;
use serde_json::{Value, json};

use crate::exchanges::{Record, traced};
use crate::job::{asked, rows};
use crate::{files, worker};

const KIND: &[&str] = &["collective", "group_size", "reach", "count", "num_ranks", "reason"];
const PLACE: &[&str] = &["rank", "machine", "host", "source", "reason"];

/// Four ranks. Each makes two all-reduces of 4,000 bytes in its pair (0 and 1, 2 and 3), 10 µs
/// each, and one in the pair across (0 and 2, 1 and 3), 40 µs. The second of a pair comes 3 µs
/// late.
fn job(header: impl Fn(i64) -> Value) -> Vec<RankedTrace> {
    (0..4).map(|rank| rank_of(rank, &header(rank))).collect()
}

fn rank_of(rank: i64, header: &Value) -> RankedTrace {
    let pair = rank / 2 * 2;
    let late = rank % 2 * 3;
    let near = json!([pair, pair + 1]);
    let far = json!([rank % 2, rank % 2 + 2]);
    let record = |name: &'static str, group: &'static str, ranks: &Value, seq, start, dur| Record {
        collective: name,
        group,
        ranks: ranks.clone(),
        seq,
        start,
        dur,
        elems: [1_000, 1_000],
        splits: ["[]".into(), "[]".into()],
        module: None,
    };
    let inner = if pair == 0 { "near0" } else { "near2" };
    let outer = if rank % 2 == 0 { "far0" } else { "far1" };
    let records = [
        record("allreduce", inner, &near, 1, 100 + late, 13 - late),
        record("allreduce", inner, &near, 2, 200 + late, 13 - late),
        record("allreduce", outer, &far, 1, 300, 40),
    ];
    traced(rank, header, &records)
}

fn devices(num: usize) -> Value {
    json!({"deviceProperties": (0..num).map(|id| json!({"id": id, "name": "X"})).collect::<Vec<_>>()})
}

fn reaches(traces: &[RankedTrace], request: &Value) -> Value {
    json!(rows(&asked("machines", traces, request), "machines", &["reach", "count"]))
}

#[test]
fn a_given_number_of_ranks_tells_inside_from_between() {
    let traces = job(|_| json!({}));
    let answer = asked("machines", &traces, &json!({"ranks_per_machine": 2}));
    let expected = json!([["all_reduce", 2, "between", 2, 4, null], ["all_reduce", 2, "inside", 4, 4, null]]);
    assert_eq!(json!(rows(&answer, "machines", KIND)), expected);
    let times = ["bytes", "total_ns", "wait_ns", "transfer_ns", "min_bus_gbps", "median_bus_gbps", "max_bus_gbps"];
    // An all-reduce of two moves 2 · (2 − 1) / 2 of its 4,000 bytes.
    let expected =
        json!([[8_000, 160_000, 0, 80_000, 0.1, 0.1, 0.1], [16_000, 4 * 23_000, 4 * 3_000, 40_000, 0.4, 0.4, 0.4],]);
    assert_eq!(json!(rows(&answer, "machines", &times)), expected);
    let place = |rank| json!([rank, rank / 2, null, "ranks_per_machine", null]);
    assert_eq!(json!(rows(&answer, "machine_ranks", PLACE)), json!([place(0), place(1), place(2), place(3)]));
    assert_eq!(reaches(&traces, &json!({"ranks_per_machine": 4})), json!([["inside", 6]]));
    assert_eq!(reaches(&traces, &json!({"ranks_per_machine": 1})), json!([["between", 6]]));
    worker::assert_alike(&traces, &json!({"ranks_per_machine": 2}));
}

#[test]
fn hosts_in_file_names_number_machines_in_order_of_rank() {
    let host = |rank: i64| if rank < 2 { "zeta_1" } else { "alpha" };
    let traces = job(|rank| json!({"traceName": format!("log/{}_100.1698954910154219890.pt.trace.json", host(rank))}));
    let answer = asked("machines", &traces, &json!({}));
    let place = |rank| json!([rank, rank / 2, host(rank), "file_name", null]);
    assert_eq!(json!(rows(&answer, "machine_ranks", PLACE)), json!([place(0), place(1), place(2), place(3)]));
    assert_eq!(reaches(&traces, &json!({})), json!([["between", 2], ["inside", 4]]));
    worker::assert_alike(&traces, &json!({}));
}

#[test]
fn a_file_name_of_another_process_names_no_host() {
    let names = |rank: i64| json!({"traceName": format!("worker{rank}_step_12.1694128201557.pt.trace.json")});
    let answer = asked("machines", &job(names), &json!({}));
    assert_eq!(json!(rows(&answer, "machine_ranks", &["machine", "host"])), json!(vec![json!([null, null]); 4]));
    let local = |_| json!({"traceName": "localhost_100.1694128201557.pt.trace.json"});
    assert_eq!(reaches(&job(local), &json!({})), json!([[null, 6]]));
}

#[test]
fn devices_tell_only_if_ranks_are_numbered_by_them() {
    let traces = job(|_| devices(2));
    let answer = asked("machines", &traces, &json!({}));
    assert_eq!(json!(rows(&answer, "machine_ranks", PLACE)[3]), json!([3, 1, null, "devices", null]));
    assert_eq!(reaches(&traces, &json!({})), json!([["between", 2], ["inside", 4]]));
    worker::assert_alike(&traces, &json!({}));
    // A process that sees one device of many would look like a machine of its own.
    for (num, why) in [(1, "one device each"), (4, "not numbered by device"), (0, "no list of devices")] {
        let answer = asked("machines", &job(|_| devices(num)), &json!({}));
        assert_eq!(json!(rows(&answer, "machines", &["reach"])), json!([[null]]), "{num}");
        let reasons = rows(&answer, "machine_ranks", &["machine", "source", "reason"]);
        assert!(reasons.iter().all(|row| row[0].is_null() && row[1].is_null()), "{num}");
        assert!(reasons[0][2].as_str().unwrap().contains(why), "{num}: {reasons:?}");
    }
}

#[test]
fn groups_tell_ranks_without_a_trace() {
    let traces = job(|_| devices(2));
    assert_eq!(reaches(&traces[..1], &json!({})), json!([["between", 1], ["inside", 2]]));
    // A host name tells of its own rank alone.
    let host = |rank: i64| json!({"traceName": format!("h{}_100.1698954910154219890.pt.trace.json", rank / 2)});
    let traces = job(host);
    let few = [Arc::clone(&traces[0].1), Arc::clone(&traces[2].1)];
    let few: Vec<RankedTrace> = vec![(Some(0), few[0].clone()), (Some(2), few[1].clone())];
    let answer = asked("machines", &few, &json!({}));
    let expected = json!([
        ["all_reduce", 2, "between", 1, 2, null],
        ["all_reduce", 2, null, 4, 2, "the machines of some ranks are unknown"],
    ]);
    let mut found = rows(&answer, "machines", KIND);
    found.sort_by_key(|row| row[2].is_null());
    assert_eq!(json!(found), expected);
}

#[test]
fn hostile_sizes_and_ranks_do_no_harm() {
    let huge = i64::MAX;
    let document = json!({"distributedInfo": {"rank": huge, "world_size": huge}, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
         "args": {"Collective name": "allreduce", "Group size": huge, "Process Group Name": "0", "dtype": "Float",
                  "In msg nelems": huge, "Out msg nelems": -1}}]});
    let linked = Arc::new(LinkedTrace::new(files::trace(&document.to_string())));
    for rank in [Some(huge), Some(i64::MIN), Some(-1), None] {
        for num in [0, 1, 2, huge] {
            let answer = asked("machines", &[(rank, Arc::clone(&linked))], &json!({"ranks_per_machine": num}));
            assert_eq!(answer.tables[0].num_rows(), 1, "{rank:?} {num}");
        }
    }
}
