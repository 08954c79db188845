//! Tests files for PARAM with a reader that expects the keys that PARAM's own expects.

use kinetoscope::replay::{ParamCounts, write_param_comms};
use kinetoscope::{Input, Limits, LinkedTrace, read};
use proptest::prelude::*;
use serde_json::{Value, json};

fn linked(documents: &[Value]) -> LinkedTrace {
    let texts: Vec<_> = documents.iter().map(Value::to_string).collect();
    LinkedTrace::new(read(texts.iter().map(|text| Input::new(text.as_bytes())), Limits::default()).unwrap())
}

fn written(linked: &LinkedTrace) -> (Vec<Value>, ParamCounts) {
    let mut out = Vec::new();
    let counts = write_param_comms(linked, &mut out).unwrap();
    (serde_json::from_slice(&out).unwrap(), counts)
}

/// Expects the keys that PARAM's reader of basic traces reads, and splits that add up.
fn load(operation: &Value) -> Result<(), String> {
    let need = |key: &str, is_it: fn(&Value) -> bool| match operation.get(key) {
        Some(value) if is_it(value) => Ok(()),
        found => Err(format!("{key} is {found:?} in {operation}")),
    };
    need("comms", Value::is_string)?;
    let comms = operation["comms"].as_str().unwrap_or_default();
    if !["wait", "barrier", "init", "batch_isend_irecv"].contains(&comms) {
        need("in_msg_size", Value::is_i64)?;
        need("out_msg_size", Value::is_i64)?;
        need("dtype", Value::is_string)?;
    }
    if comms == "all_to_allv" {
        for (split, size) in [("in_split", "in_msg_size"), ("out_split", "out_msg_size")] {
            need(split, Value::is_array)?;
            let parts = operation[split].as_array().into_iter().flatten().map(|part| part.as_i64().unwrap_or(-1));
            if Some(parts.sum::<i64>()) != operation[size].as_i64() {
                return Err(format!("{split} does not add up in {operation}"));
            }
        }
    }
    if ["send", "recv", "isend", "irecv"].contains(&comms) {
        need("src_rank", |_| true)?;
        need("dst_rank", |_| true)?;
        need("use_batch", Value::is_boolean)?;
    }
    Ok(())
}

fn expect_loads(operations: &[Value]) {
    operations.iter().for_each(|operation| load(operation).expect("an operation that PARAM reads"));
}

pub(crate) fn node(id: u64, name: &str, [values, shapes, types]: [Value; 3], outputs: &Value, attrs: &Value) -> Value {
    let mut all = vec![
        json!({"name": "rf_id", "type": "uint64", "value": id}),
        json!({"name": "tid", "type": "uint64", "value": 1}),
    ];
    all.extend(attrs.as_array().into_iter().flatten().cloned());
    json!({"id": id, "name": name, "ctrl_deps": 1, "attrs": all, "outputs": outputs,
        "inputs": {"values": values, "shapes": shapes, "types": types}})
}

pub(crate) fn tensor(elems: i64) -> Value {
    json!([100 + elems, 200 + elems, 0, elems, 4, "cpu"])
}

pub(crate) fn group(config: &Value) -> Value {
    let none = json!({"values": [], "shapes": [], "types": []});
    node(
        3,
        "## process_group:init ##",
        [json!([config.to_string()]), json!([[]]), json!(["String"])],
        &none,
        &json!([]),
    )
}

fn default_group(size: i64) -> Value {
    group(&json!([{"pg_name": "0", "pg_desc": "default_pg", "ranks": [], "group_size": size, "group_count": 1}]))
}

/// An operator of `c10d` as gloo runs it: only its arguments tell sizes.
fn operator(id: u64, name: &str, arguments: &[(Value, &str)]) -> Value {
    let (values, types): (Vec<Value>, Vec<&str>) = arguments.iter().map(|(value, name)| (value.clone(), *name)).unzip();
    let shapes: Vec<Value> = values.iter().map(|_| json!([])).collect();
    let none = json!({"values": [], "shapes": [], "types": []});
    node(id, name, [json!(values), json!(shapes), json!(types)], &none, &json!([]))
}

fn run(id: u64, name: &str) -> Value {
    operator(id, name, &[(tensor(8), "Tensor(float)")])
}

pub(crate) const LIST: &str = "GenericList[Tensor(float)]";
const PAIR: &str = "GenericList[GenericList[Tensor(float),Tensor(float)]]";
const INTS: &str = "GenericList[Int,Int]";

fn gloo() -> Vec<Value> {
    let object = || (json!("<Object>"), "Object");
    vec![
        default_group(2),
        operator(10, "c10d::allreduce_", &[(json!([tensor(8)]), LIST), object(), object()]),
        run(11, "gloo:all_reduce"),
        operator(
            20,
            "c10d::_allgather_base_",
            &[(tensor(16), "Tensor(float)"), (tensor(8), "Tensor(float)"), object()],
        ),
        run(21, "gloo:all_gather"),
        operator(
            30,
            "c10d::allgather_",
            &[(json!([[tensor(8), tensor(8)]]), PAIR), (json!([tensor(8)]), LIST), object()],
        ),
        run(31, "gloo:all_gather"),
        operator(
            40,
            "c10d::reduce_scatter_",
            &[(json!([tensor(4)]), LIST), (json!([[tensor(4), tensor(4)]]), PAIR), object()],
        ),
        run(41, "gloo:all_reduce"),
        operator(
            50,
            "c10d::alltoall_base_",
            &[
                (tensor(30), "Tensor(float)"),
                (tensor(40), "Tensor(float)"),
                object(),
                (json!([1, 2]), INTS),
                (json!([1, 3]), INTS),
            ],
        ),
        run(51, "gloo:all_to_all"),
        operator(
            60,
            "c10d::alltoall_base_",
            &[
                (tensor(4), "Tensor(float)"),
                (tensor(4), "Tensor(float)"),
                object(),
                (json!([]), "GenericList[]"),
                (json!([]), "GenericList[]"),
            ],
        ),
        run(61, "gloo:all_to_all"),
        operator(
            70,
            "c10d::allreduce_coalesced_",
            &[(json!([tensor(4), tensor(6)]), "GenericList[Tensor(float),Tensor(float)]"), object(), object()],
        ),
        run(71, "gloo:all_reduce"),
        operator(80, "c10d::send", &[(json!([tensor(8)]), LIST), object(), (json!(1), "Int"), (json!(0), "Int")]),
        operator(90, "c10d::recv_any_source_", &[(json!([tensor(8)]), LIST), object(), (json!(0), "Int")]),
        operator(95, "c10d::broadcast_", &[(json!([tensor(8)]), LIST), object(), (json!(1), "Int"), (json!(0), "Int")]),
    ]
}

#[test]
fn calls_of_gloo_have_sizes_types_splits_and_their_group() {
    let (operations, counts) = written(&linked(&[json!({"nodes": gloo()})]));
    expect_loads(&operations);
    assert_eq!((counts.num_left_out, counts.num_unsized, counts.num_failed), (0, 0, 0), "{operations:?}");
    let sizes = |operation: &Value| {
        [&operation["in_msg_size"], &operation["out_msg_size"]].map(|size| size.as_i64().unwrap_or(-1))
    };
    let found: Vec<_> =
        operations.iter().map(|operation| (operation["comms"].as_str().unwrap(), sizes(operation))).collect();
    let expected = [
        ("init", [-1, -1]),
        ("all_reduce", [8, 8]),
        ("all_gather_base", [8, 16]),
        ("all_gather", [8, 16]),
        ("reduce_scatter", [8, 4]),
        ("all_to_allv", [40, 30]),
        ("all_to_allv", [4, 4]),
        ("allreduce_coalesced", [10, 10]),
        ("send", [8, 8]),
        ("recv", [8, 8]),
        ("broadcast", [8, 8]),
    ];
    assert_eq!(found, expected);
    // Rows of ten elements; even parts without recorded ones.
    assert_eq!((&operations[5]["in_split"], &operations[5]["out_split"]), (&json!([10, 30]), &json!([10, 20])));
    assert_eq!((&operations[6]["in_split"], &operations[6]["out_split"]), (&json!([2, 2]), &json!([2, 2])));
    assert_eq!(
        (&operations[8]["dst_rank"], &operations[9]["src_rank"], &operations[10]["root"]),
        (&json!(1), &Value::Null, &json!(1))
    );
    assert!(operations[1..].iter().all(|operation| operation["pg_id"] == 0 && operation["world_size"] == 2));
}

#[test]
fn a_call_that_raised_is_left_out_and_counted() {
    // Gloo never ran the gather, and what follows it ran.
    let mut nodes = gloo();
    nodes.retain(|node| node["id"] != 21);
    let (operations, counts) = written(&linked(&[json!({"nodes": nodes})]));
    expect_loads(&operations);
    assert_eq!(
        (counts.num_failed, operations.iter().filter(|operation| operation["comms"] == "all_gather_base").count()),
        (1, 0)
    );
    // Seven elements are no two parts of four.
    let bad = operator(20, "c10d::_allgather_base_", &[(tensor(7), "Tensor(float)"), (tensor(4), "Tensor(float)")]);
    let (operations, counts) = written(&linked(&[json!({"nodes": [default_group(2), bad]})]));
    assert_eq!((counts.num_failed, operations.len()), (1, 1));
    // The Execution Trace has no node of the call, but of those around it.
    let event = |id: u64, name: &str| {
        json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": id * 10, "dur": 5, "args": {
            "Record function id": id, "Input Dims": [[[8]], [], []], "Input type": ["TensorList", "", ""]}})
    };
    let events = [10, 12, 14].map(|id| event(id, "c10d::allreduce_"));
    let nodes = [10, 14].map(|id| operator(id, "c10d::allreduce_", &[(json!([tensor(8)]), LIST)]));
    let mut all = vec![default_group(2)];
    all.extend(nodes);
    let (operations, counts) = written(&linked(&[json!({"traceEvents": events}), json!({"nodes": all})]));
    assert_eq!((counts.num_failed, operations.len()), (1, 3));
}

#[test]
fn events_alone_tell_sizes_where_their_types_are_recorded() {
    let event = |start: i64, name: &str, dims: Value, types: Value, concrete: Value| {
        json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": 5,
            "args": {"Input Dims": dims, "Input type": types, "Concrete Inputs": concrete}})
    };
    let events = [
        event(
            0,
            "c10d::alltoall_base_",
            json!([[3, 10], [4, 10], [], [], []]),
            json!(["float", "float", "", "ScalarList", "ScalarList"]),
            json!(["", "", "", "[1, 2]", "[1, 3]"]),
        ),
        event(
            10,
            "c10d::_reduce_scatter_base_",
            json!([[4], [8], []]),
            json!(["c10::Half", "c10::Half", ""]),
            json!(["", "", ""]),
        ),
        // Kineto does not write the types of lists.
        event(20, "c10d::allreduce_", json!([[[8]], []]), json!(["TensorList", ""]), json!(["", ""])),
    ];
    let info = json!({"backend": "gloo", "rank": 0, "world_size": 2,
        "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}]});
    let (operations, counts) = written(&linked(&[json!({"traceEvents": events, "distributedInfo": info})]));
    expect_loads(&operations);
    assert_eq!((operations.len(), counts.num_unsized), (3, 1));
    assert_eq!((&operations[1]["in_split"], &operations[1]["out_split"]), (&json!([10, 30]), &json!([10, 20])));
    assert_eq!((&operations[2]["dtype"], &operations[2]["in_msg_size"]), (&json!("half"), &json!(8)));
}

/// A record of NCCL: tensors, sequence, group, rank, name, splits, ranks, size.
fn record(id: u64, name: &str, elems: [i64; 2], rank: i64, splits: &[Value; 2]) -> Value {
    let values = json!([
        [tensor(elems[0])],
        [id, name == "send" || name == "recv"],
        ["0", "default_pg"],
        rank,
        name,
        splits[0],
        splits[1],
        0,
        1,
        2
    ]);
    let types = json!([
        LIST,
        "Tuple[Int,Bool]",
        "Tuple[String,String]",
        "Int",
        "String",
        "GenericList[Int,Int]",
        "GenericList[Int,Int]",
        "Int",
        "Int",
        "Int"
    ]);
    let shapes = json!([[[elems[0]]], [], [], [], [], [], [], [], [], []]);
    let outputs = json!({"values": [[tensor(elems[1])]], "shapes": [[[elems[1]]]], "types": [LIST]});
    node(id, "record_param_comms", [values, shapes, types], &outputs, &json!([]))
}

fn coalesced(id: u64) -> Value {
    let values = json!([[id, true], ["0", "default_pg"], 0, "coalesced", [], [], 0, 1, 2]);
    let types = json!([
        "Tuple[Int,Bool]",
        "Tuple[String,String]",
        "Int",
        "String",
        "GenericList[]",
        "GenericList[]",
        "Int",
        "Int",
        "Int"
    ]);
    let none = json!({"values": [], "shapes": [], "types": []});
    node(id, "record_param_comms", [values, json!([[], [], [], [], [], [], [], [], []]), types], &none, &json!([]))
}

#[test]
fn coalesced_calls_of_nccl_load() {
    let none = || [json!([]), json!([])];
    let nodes = [
        default_group(2),
        record(10, "allreduce_coalesced", [6, 6], 0, &none()),
        record(12, "send", [8, 8], 1, &none()),
        record(13, "recv", [8, 8], 1, &none()),
        coalesced(14),
        record(16, "send", [8, 8], 1, &none()),
        record(18, "_allgather_base", [4, 8], 0, &none()),
        record(19, "_allgather_base", [2, 4], 0, &none()),
        coalesced(20),
        record(22, "all_to_allv", [4, 6], 0, &[json!([1, 3]), json!([2, 4])]),
    ];
    let (operations, counts) = written(&linked(&[json!({"nodes": nodes})]));
    expect_loads(&operations);
    let names: Vec<_> = operations.iter().map(|operation| operation["comms"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "init",
            "allreduce_coalesced",
            "send",
            "recv",
            "batch_isend_irecv",
            "send",
            "all_gather_base",
            "all_gather_base",
            "all_to_allv"
        ]
    );
    let batched: Vec<_> = operations.iter().filter_map(|operation| operation.get("use_batch")?.as_bool()).collect();
    assert_eq!(batched, [true, true, false]);
    assert_eq!((counts.num_left_out, counts.num_unsized, counts.num_failed), (0, 0, 0));
}

#[test]
fn splits_that_kineto_cut_are_unknown_and_counted() {
    let args = |split: &str| {
        json!({"Collective name": "all_to_allv", "dtype": "Float", "In msg nelems": 60, "Out msg nelems": 60,
        "Group size": 64, "In split size": split, "Out split size": split, "Rank": 0})
    };
    let event = |split: &str| json!([{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": args(split)}]);
    assert_eq!(written(&linked(&[event("[1, 2, 3, ...]")])).1.num_unsized, 1);
    // 60 elements are no 64 even parts.
    assert_eq!(written(&linked(&[event("[]")])).1.num_failed, 1);
}

/// Operators and records with arguments of any kind.
pub(crate) fn any_node() -> impl Strategy<Value = Value> {
    let names = [
        "c10d::allreduce_",
        "c10d::alltoall_base_",
        "c10d::_allgather_base_",
        "c10d::send",
        "c10d::gather_",
        "record_param_comms",
        "gloo:all_reduce",
        "c10d::allgather_into_tensor_coalesced_",
        "c10d::barrier",
    ];
    let types = ["Tensor(float)", LIST, PAIR, INTS, "GenericList[]", "Int", "Bool", "String", "Object"];
    let value = prop_oneof![
        any::<i64>().prop_map(Value::from),
        (0..9_i64).prop_map(tensor),
        (0..9_i64).prop_map(|elems| json!([tensor(elems)])),
        prop::collection::vec(any::<i64>(), 0..4).prop_map(Value::from),
        prop::sample::select(vec!["all_to_allv", "send", "coalesced", "0", "[1, ...]"]).prop_map(Value::from),
    ];
    let argument = (value, prop::sample::select(types.to_vec()));
    (1..99_u64, prop::sample::select(names.to_vec()), prop::collection::vec(argument, 0..8))
        .prop_map(|(id, name, arguments)| operator(id, name, &arguments))
}

proptest! {
    #[test]
    fn whatever_is_written_loads(nodes in prop::collection::vec(any_node(), 1..20), size in prop::sample::select(vec![0, 1, 2, 3, i64::MAX])) {
        let mut all = vec![default_group(size)];
        all.extend(nodes);
        let (operations, counts) = written(&linked(&[json!({"nodes": all})]));
        for operation in &operations {
            prop_assert_eq!(load(operation), Ok(()));
        }
        prop_assert_eq!(counts.num_operations, operations.len() as u64);
    }
}
