//! Tests collectives in each layout of either file.

use kinetoscope::link::Collective;
use kinetoscope::replay::write_param_comms;
use kinetoscope::trace::collective::CollectivePattern;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

fn linked(documents: &[Value]) -> LinkedTrace {
    let texts: Vec<_> = documents.iter().map(Value::to_string).collect();
    LinkedTrace::new(read(texts.iter().map(|text| Input::new(text.as_bytes())), Limits::default()).unwrap())
}

/// A node of a record in the layout since 1.0.2.
fn record(id: u64, inputs: &Value, types: &Value, attrs: &[(&str, Value)]) -> Value {
    let attrs: Vec<_> = attrs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    json!({"id": id, "name": "record_param_comms", "ctrl_deps": 1, "attrs": attrs,
        "inputs": {"values": inputs, "shapes": [], "types": types},
        "outputs": {"values": [inputs[0]], "shapes": [[]], "types": [types[0]]}})
}

fn groups(id: u64, config: &Value) -> Value {
    json!({"id": id, "name": "## process_group:init ##", "ctrl_deps": 1, "attrs": [],
        "inputs": {"values": [config.to_string()], "shapes": [[]], "types": ["String"]},
        "outputs": {"values": [], "shapes": [], "types": []}})
}

fn event(name: &str, category: &str, [thread, start, dur]: [i64; 3], args: &Value) -> Value {
    json!({"ph": "X", "name": name, "cat": category, "pid": 1, "tid": thread, "ts": start, "dur": dur, "args": args})
}

fn ranks(row: &Collective) -> Vec<i64> {
    row.ranks.as_ref().map(|ranks| ranks.iter().collect()).unwrap_or_default()
}

#[test]
fn nothing_communicates_in_an_empty_trace() {
    assert!(linked(&[json!({"traceEvents": []})]).collectives().rows.is_empty());
    assert!(files::pair("minimal_cpu").collectives().rows.is_empty());
}

#[test]
fn a_flat_node_says_its_sizes_by_its_tensors() {
    let node = |id: u64, inputs: Value, types: Value, outputs: Value| {
        json!({"id": id, "name": "record_param_comms", "rf_id": id, "parent": 1, "tid": 1, "scope": 0,
            "inputs": inputs, "input_shapes": [], "input_types": types,
            "outputs": outputs, "output_shapes": [], "output_types": ["Tensor(float)"]})
    };
    let types = json!(["Tensor(float)", "Int", "Int", "Int", "String", "GenericList[Int,Int]", "GenericList[Int,Int]"]);
    let wait = json!(["Int", "Int", "Int", "String", "GenericList[]", "GenericList[]"]);
    let exchange = json!([[7, 8, 0, 30, 4, "cuda:0"], 147, 945_941, 1, "all_to_allv", [10, 20], [5, 15]]);
    let nodes = [
        node(5, json!([146, 0, 1, "wait", [], []]), wait.clone(), json!([])),
        node(6, exchange, types, json!([[9, 10, 0, 20, 4, "cuda:0"]])),
        node(7, json!([147, 0, 1, "wait", [], []]), wait, json!([])),
    ];
    let linked = linked(&[json!({"schema": "1.0.1", "nodes": nodes})]);
    let found = linked.collectives();
    let [row] = found.rows.as_slice() else { panic!("one, found {:?}", found.rows) };
    assert_eq!(
        (row.name.as_deref(), row.facts.seq, row.facts.group_id),
        (Some("all_to_allv"), Some(147), Some(945_941))
    );
    assert_eq!((row.in_bytes(), row.out_bytes(), row.facts.dtype.as_deref()), (Some(120), Some(80), Some("float")));
    assert_eq!((row.facts.in_split.as_deref(), row.facts.group_size, row.group), (Some("[10,20]"), None, None));
    // The first wait is for something before the window.
    assert_eq!(found.waits.iter().map(|wait| wait.collective).collect::<Vec<_>>(), [None, Some(0)]);
    assert_eq!((row.wait, row.is_async()), (Some(1), Some(true)));
}

#[test]
fn a_group_is_found_by_its_number_before_it_had_a_name() {
    let config = json!([{"pg_name": "3", "backend_id": 821, "ranks": [4, 6], "group_size": 2, "group_count": 1}]);
    let gathered = json!([[[7, 8, 0, 1, 8, "cuda:0"]], 12, 821, 1, "all_gather", [], [], 2]);
    let types = json!([
        "GenericList[Tensor(long int)]",
        "Int",
        "Int",
        "Int",
        "String",
        "GenericList[]",
        "GenericList[]",
        "Int"
    ]);
    let linked = linked(&[json!({"schema": "1.0.2-chakra.0.0.4", "nodes": [
        groups(3, &config), record(5, &gathered, &types, &[])]})]);
    let row = &linked.collectives().rows[0];
    assert_eq!((ranks(row), row.facts.group_size, row.place), (vec![4, 6], Some(2), Some(1)));
    assert_eq!((row.facts.dtype.as_deref(), row.in_bytes()), (Some("long"), Some(8)));
    assert_eq!(linked.collectives().rank, Some(6));
}

#[test]
fn attributes_name_what_they_have_and_places_the_rest() {
    let config = json!([{"pg_name": "0", "pg_desc": "default_pg", "ranks": [], "group_size": 4, "group_count": 1}]);
    let attrs = [
        ("collective_name", json!("_allgather_base")),
        ("dtype", json!("BFloat16")),
        ("in_msg_nelems", json!(8)),
        ("out_msg_nelems", json!(32)),
        ("pg_name", json!("0")),
        ("pg_size", json!(4)),
        ("is_asynchronized_op", json!("True")),
    ];
    let inputs =
        json!([[[7, 8, 0, 8, 2, "cuda:0"]], [9, false], ["0", "default_pg"], 2, "_allgather_base", [], [], 0, 1, 4]);
    let types =
        json!(["GenericList[Tensor(c10::BFloat16)]", "Tuple[Int,Bool]", "Tuple[String,String]", "Int", "String"]);
    let wait = json!([[9, false], ["", ""], 2, "wait", [], [], -1, -1, 1]);
    let wait_types = json!(["Tuple[Int,Bool]", "Tuple[String,String]", "Int", "String"]);
    let linked = linked(&[json!({"schema": "1.1.1-chakra.0.0.4", "nodes": [groups(3, &config),
        record(5, &inputs, &types, &attrs), record(6, &wait, &wait_types, &[("collective_name", json!("wait"))])]})]);
    let row = &linked.collectives().rows[0];
    assert_eq!((row.name.as_deref(), row.pattern), (Some("all_gather_base"), Some(CollectivePattern::AllGather)));
    assert_eq!((row.facts.seq, row.is_p2p(), row.is_async(), row.wait), (Some(9), Some(false), Some(true), Some(0)));
    assert_eq!((row.in_bytes(), row.out_bytes(), ranks(row)), (Some(16), Some(64), vec![0, 1, 2, 3]));
    assert_eq!(linked.collectives().rank, Some(2));
}

#[test]
fn two_ends_are_named_by_their_ranks_of_all() {
    let config = json!([{"pg_name": "1", "ranks": [3, 5], "group_size": 2, "group_count": 2}]);
    let node = |id, name: &str, place: i64| {
        let inputs = json!([[[7, 8, 0, 8, 4, "cuda:0"]], [id, true], ["1", ""], place, name, [], [], 3, 2, 2]);
        let types = json!(["GenericList[Tensor(float)]", "Tuple[Int,Bool]", "Tuple[String,String]", "Int", "String"]);
        record(id, &inputs, &types, &[])
    };
    let nodes = [
        groups(3, &config),
        node(5, "send", 1),
        node(6, "recvAnySource", 1),
        node(7, "broadcast", 1),
        node(8, "allreduce", 0),
    ];
    let linked = linked(&[json!({"schema": "1.1.1-chakra.0.0.4", "nodes": nodes})]);
    let [send, recv, broadcast, _] = linked.collectives().rows.as_slice() else { panic!("four") };
    assert_eq!((send.src_rank, send.dst_rank), (Some(3), Some(5)));
    assert_eq!((recv.name.as_deref(), recv.src_rank, recv.dst_rank), (Some("recv"), Some(5), Some(3)));
    assert_eq!(broadcast.root_rank, Some(5));
}

/// Kineto's events of one all-reduce, from the operator to the kernel.
fn reduced(args: &Value, kernel: &Value) -> Vec<Value> {
    let device = json!({"correlation": 7, "device": 0, "stream": 3});
    let with = |args: &Value| {
        let both = device.as_object().unwrap().iter().chain(args.as_object().unwrap());
        Value::Object(both.map(|(key, value)| (key.clone(), value.clone())).collect())
    };
    vec![
        event("c10d::allreduce_", "cpu_op", [1, 10, 50], &json!({})),
        event("record_param_comms", "cpu_op", [1, 12, 40], args),
        event("record_param_comms", "cpu_op", [1, 13, 38], args),
        event(
            "nccl:all_reduce",
            "user_annotation",
            [1, 14, 30],
            &json!({"Input Dims": [[4, 25]], "Input type": ["float"]}),
        ),
        event("cudaLaunchKernel", "cuda_runtime", [1, 20, 5], &json!({"correlation": 7})),
        event("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", "kernel", [3, 30, 4], &with(kernel)),
    ]
}

#[test]
fn one_call_is_one_row_however_often_it_is_recorded() {
    let args = json!({"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 100, "Out msg nelems": 100,
        "Group size": 4, "Process Group Name": "0", "Process Group Ranks": "[0, 2, 4, 6]", "In split size": "[]",
        "Out split size": "[]", "Seq": 5, "Rank": 1, "Is asynchronized op": true});
    let linked = linked(&[json!({"traceEvents": reduced(&args, &args)})]);
    let [row] = linked.collectives().rows.as_slice() else { panic!("one") };
    assert_eq!((row.event, row.device_events.as_slice(), row.node), (Some(1), [5].as_slice(), None));
    assert_eq!((row.facts.seq, row.is_async(), ranks(row)), (Some(5), Some(true), vec![0, 2, 4, 6]));
    // 400 bytes in 4 000 ns; three quarters of it twice.
    assert_eq!((row.algorithm_gbps(&linked.trace), row.bus_gbps(&linked.trace)), (Some(0.1), Some(0.15)));
}

#[test]
fn without_arguments_the_annotation_says_what_it_can() {
    let linked = linked(&[json!({"traceEvents": reduced(&json!({}), &json!({}))})]);
    let [row] = linked.collectives().rows.as_slice() else { panic!("one") };
    assert_eq!((row.name.as_deref(), row.in_bytes(), row.out_bytes()), (Some("all_reduce"), Some(400), Some(400)));
    assert_eq!((row.facts.seq, row.facts.group_size, row.bus_gbps(&linked.trace)), (None, None, None));
}

#[test]
fn what_kineto_cut_is_not_known() {
    let split = "[1, 2, 3, ...]";
    let args = json!({"Collective name": "all_to_allv", "dtype": "Float", "In msg nelems": 60, "Out msg nelems": 60,
        "Group size": 64, "Process Group Ranks": "[0, 1, ...]", "In split size": split, "Out split size": split, "Rank": 0});
    let linked = linked(&[json!({"traceEvents": reduced(&args, &args)})]);
    let rows = &linked.collectives().rows;
    let row = rows.iter().find(|row| row.pattern == Some(CollectivePattern::AllToAll)).unwrap();
    assert_eq!((ranks(row), row.facts.in_split.as_deref()), (vec![], Some(split)));
    assert_eq!(row.bus_gbps(&linked.trace), None);
}

#[test]
fn an_uneven_exchange_leaves_out_what_stays() {
    let args = json!({"Collective name": "all_to_allv", "dtype": "Half", "In msg nelems": 60, "Out msg nelems": 30,
        "Group size": 2, "In split size": "[20, 40]", "Out split size": "[20, 10]", "Rank": 1});
    let kernel =
        event("ncclKernel_SendRecv", "kernel", [3, 30, 1], &json!({"correlation": 7, "device": 0, "stream": 3}));
    let launch = event("cudaLaunchKernel", "cuda_runtime", [1, 20, 5], &json!({"correlation": 7}));
    let linked =
        linked(&[json!({"traceEvents": [event("record_param_comms", "cpu_op", [1, 12, 40], &args), launch, kernel]})]);
    let row = &linked.collectives().rows[0];
    // 20 elements go, 20 come, of two bytes, in a microsecond.
    assert_eq!((row.algorithm_gbps(&linked.trace), row.bus_gbps(&linked.trace)), (Some(0.12), Some(0.04)));
}

#[test]
fn both_files_together_say_it_once() {
    let args = json!({"Record function id": 5, "Collective name": "allreduce", "Group size": 4});
    let inputs = json!([[[7, 8, 0, 100, 4, "cuda:0"]], 33, ["0", "default_pg"], 1, "allreduce", [], [], 0, 1, 4]);
    let types = json!(["GenericList[Tensor(float)]", "Int", "Tuple[String,String]", "Int", "String"]);
    let node = record(5, &inputs, &types, &[("rf_id", json!(5))]);
    let linked =
        linked(&[json!({"traceEvents": reduced(&args, &json!({}))}), json!({"schema": "1.1.0", "nodes": [node]})]);
    let [row] = linked.collectives().rows.as_slice() else { panic!("one") };
    assert_eq!((row.event, row.node, row.facts.seq, row.in_bytes()), (Some(1), Some(0), Some(33), Some(400)));
    assert_eq!(row.bus_gbps(&linked.trace), Some(0.15));
}

#[test]
fn a_kernel_without_a_call_stands_for_itself() {
    let at = json!({"device": 0, "stream": 3});
    let names = [
        "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_Broadcast_RING_LL_Sum_int8_t()",
        "gemm",
    ];
    let events: Vec<_> =
        names.iter().enumerate().map(|(i, name)| event(name, "kernel", [3, i as i64, 1], &at)).collect();
    let linked = linked(&[json!({"traceEvents": events})]);
    let found: Vec<_> = linked.collectives().rows.iter().map(|row| (row.event, row.name.as_deref())).collect();
    assert_eq!(found, [(None, None), (None, Some("broadcast"))]);
}

#[test]
fn runs_of_a_backend_on_the_host_belong_to_the_operators_that_asked() {
    for with_nodes in [true, false] {
        let mut linked = files::pair("mlp_gloo");
        if !with_nodes {
            linked.trace.nodes.clear();
            linked = LinkedTrace::new(linked.trace);
        }
        let found = linked.collectives();
        assert_eq!(found.rows.len(), 3, "with nodes: {with_nodes}");
        for row in &found.rows {
            assert_eq!((row.name.as_deref(), row.node.is_some()), (Some("all_reduce"), with_nodes));
            assert_eq!((row.in_bytes(), row.facts.dtype.as_deref()), (Some(41_536), Some("float")));
            let (call, run) = (row.event.unwrap() as usize, row.time(&linked.trace).unwrap());
            assert_eq!(linked.trace.event_name(call), "c10d::allreduce_");
            assert!(run.start > linked.trace.events.start.at(call));
        }
    }
}

/// Events and nodes of operators and of a backend's runs: names, record ids, threads, and when each
/// event began.
fn recorded(events: &[(&str, i64, i64, i64)], nodes: &[(&str, u64)]) -> LinkedTrace {
    let event = |(name, id, thread, start): &(&str, i64, i64, i64)| {
        let category = if name.starts_with("gloo") { "user_annotation" } else { "cpu_op" };
        event(name, category, [*thread, *start, 5], &json!({"Record function id": id}))
    };
    let node = |(name, id): &(&str, u64)| json!({"id": id, "name": name, "ctrl_deps": 1, "attrs": [{"name": "rf_id", "value": id}]});
    let (events, nodes): (Vec<_>, Vec<_>) = (events.iter().map(event).collect(), nodes.iter().map(node).collect());
    linked(&[json!({"traceEvents": events}), json!({"schema": "1.1.0", "nodes": nodes})])
}

#[test]
fn a_run_that_the_order_leaves_open_is_put_where_its_node_is() {
    let nodes = [("c10d::allgather_", 5), ("gloo:all_gather", 6)];
    for thread in [0, 2] {
        let run = ("gloo:all_gather", 6, thread, 12);
        // The second raised, so it has neither a run nor a node.
        let events = [("c10d::allgather_", 5, 1, 10), ("c10d::_allgather_base_", 7, 1, 30), run];
        let linked = recorded(&events, &nodes);
        let rows = linked.collectives().rows.iter().map(|row| (row.event, row.run, row.node));
        assert_eq!(rows.collect::<Vec<_>>(), [(Some(0), Some(2), Some(0)), (Some(1), None, None)], "thread {thread}");
    }
}

#[test]
fn a_node_that_the_order_leaves_open_is_put_where_its_run_is() {
    let (asked, ran) = ("c10d::allreduce_", "gloo:all_reduce");
    let events = [(asked, 5, 1, 10), (ran, 6, 2, 12), (asked, 7, 1, 30), (ran, 8, 2, 32)];
    // The Execution Trace began after the first was asked for.
    let linked = recorded(&events, &[(ran, 6), (asked, 7), (ran, 8)]);
    let rows = linked.collectives().rows.iter().map(|row| (row.event, row.run, row.node));
    assert_eq!(rows.collect::<Vec<_>>(), [(Some(0), Some(1), Some(0)), (Some(2), Some(3), Some(1))]);
}

#[test]
fn a_wait_that_two_groups_may_mean_stays_open() {
    let node = |id: u64, group: &str, name: &str| {
        let inputs = if name == "wait" {
            json!([33, [group, ""], 0, name, [], []])
        } else {
            json!([[[7, 8, 0, 1, 4, "cuda:0"]], 33, [group, ""], 0, name, [], []])
        };
        let types =
            if name == "wait" { json!(["Int", "", "Int", "String"]) } else { json!(["", "Int", "", "Int", "String"]) };
        record(id, &inputs, &types, &[])
    };
    let waits = |last: &str| {
        let nodes = [node(5, "0", "allreduce"), node(6, "1", "allreduce"), node(7, last, "wait")];
        linked(&[json!({"nodes": nodes})]).collectives().waits[0].collective
    };
    assert_eq!([waits(""), waits("0"), waits("1"), waits("2")], [None, Some(0), Some(1), None]);
}

#[test]
fn a_wait_without_a_number_is_for_what_gave_its_tensor() {
    let node = |id: u64, name: &str, inputs: Value, outputs: Value| {
        json!({"id": id, "name": name, "ctrl_deps": 1, "attrs": [],
            "inputs": {"values": [inputs], "shapes": [[2]], "types": ["Tensor(float)"]},
            "outputs": {"values": [outputs], "shapes": [[2]], "types": ["Tensor(float)"]}})
    };
    let tensor = |id: u64| json!([id, id, 0, 2, 4, "cuda:0"]);
    let nodes = [
        node(10, "_c10d_functional::all_reduce", tensor(1), tensor(2)),
        node(11, "_c10d_functional::all_reduce", tensor(3), tensor(4)),
        node(12, "_c10d_functional::wait_tensor", tensor(4), tensor(4)),
        node(13, "_c10d_functional::wait_tensor", tensor(2), tensor(2)),
        node(14, "_c10d_functional::wait_tensor", tensor(9), tensor(9)),
    ];
    let linked = linked(&[json!({"nodes": nodes})]);
    let waits = linked.collectives().waits.iter().map(|wait| wait.collective);
    assert_eq!(waits.collect::<Vec<_>>(), [Some(1), Some(0), None]);
}

fn param_comms(linked: &LinkedTrace) -> Vec<Value> {
    let mut out = Vec::new();
    let counts = write_param_comms(linked, &mut out).unwrap();
    let operations: Vec<Value> = serde_json::from_slice(&out).unwrap();
    assert_eq!(counts.num_operations, operations.len() as u64);
    operations
}

#[test]
fn what_param_replays_has_its_groups_first_and_its_waits_paired() {
    let config =
        json!([{"pg_name": "0", "ranks": [], "group_size": 2}, {"pg_name": "local", "ranks": [0], "group_size": 1}]);
    let exchange = json!([[7, 8, 0, 4, 4, "cuda:0"], 33, ["0", ""], 1, "alltoallv", [1, 3], [], 0, 1, 2]);
    let types = json!(["Tensor(float)", "Int", "Tuple[String,String]", "Int", "String"]);
    let wait = json!([33, ["", ""], 1, "wait", [], [], -1, -1, 1]);
    let wait_types = json!(["Int", "Tuple[String,String]", "Int", "String"]);
    let wait = record(6, &wait, &wait_types, &[("collective_name", json!("wait")), ("pg_size", json!(1))]);
    let linked = linked(&[json!({"nodes": [groups(3, &config), record(5, &exchange, &types, &[]), wait]})]);
    let expected = json!([
        {"comms": "init", "req": -1, "pg_id": 0, "world_size": 2, "global_ranks": [0, 1]},
        {"comms": "all_to_allv", "req": 33, "in_msg_size": 4, "out_msg_size": 4, "dtype": "float",
            "in_split": [1, 3], "out_split": [2, 2], "pg_id": 0, "world_size": 2},
        {"comms": "wait", "req": 33, "pg_id": 0, "world_size": 2},
    ]);
    assert_eq!(Value::from(param_comms(&linked)), expected);
    assert!(param_comms(&files::pair("minimal_cpu")).is_empty());
}

#[test]
fn what_cannot_be_replayed_is_counted() {
    let events = [event("ncclDevKernel_Generic()", "kernel", [3, 1, 1], &json!({"device": 0, "stream": 3}))];
    let counts = write_param_comms(&linked(&[json!({"traceEvents": events})]), &mut Vec::new()).unwrap();
    assert_eq!((counts.num_operations, counts.num_left_out), (0, 1));
}

#[test]
fn parents_that_go_in_a_circle_end_nothing() {
    let node = |id: u64, parent: u64, name: &str| json!({"id": id, "name": name, "ctrl_deps": parent, "attrs": []});
    let nodes = [node(5, 6, "c10d::allreduce_"), node(6, 5, "c10d::broadcast_"), node(7, 8, "x"), node(8, 7, "y")];
    assert_eq!(linked(&[json!({"nodes": nodes})]).collectives().rows.len(), 2);
}

/// Anything that may stand where a record has a name, a number or a list.
fn said() -> impl Strategy<Value = Value> {
    let words =
        ["allreduce", "_allgather_base", "wait", "send", "alltoallv", "Float", "0", "[1, 2]", "[1, ...]", "true", ""];
    prop_oneof![
        prop::sample::select(words.to_vec()).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        prop::collection::vec(any::<i64>(), 0..4).prop_map(Value::from),
    ]
}

/// Arguments under the keys of communications.
fn arguments() -> impl Strategy<Value = Value> {
    let keys = [
        "Collective name",
        "Process Group Name",
        "Process Group Ranks",
        "Group size",
        "Seq",
        "Rank",
        "Src Rank",
        "dtype",
        "In msg nelems",
        "Out msg nelems",
        "In split size",
        "Out split size",
        "Is asynchronized op",
        "correlation",
    ];
    let pair = (prop::sample::select(keys.to_vec()), said());
    prop::collection::vec(pair, 0..12)
        .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn events() -> impl Strategy<Value = Vec<Value>> {
    let names =
        ["record_param_comms", "c10d::allreduce_", "nccl:all_reduce", "gloo:all_reduce", "ncclDevKernel_AllReduce"];
    let kinds = ["cpu_op", "user_annotation", "kernel", "cuda_runtime"];
    let place = (0..3_i64, 0..40_i64, 0..20_i64);
    let drawn = (prop::sample::select(names.to_vec()), prop::sample::select(kinds.to_vec()), place, arguments());
    let drawn =
        drawn.prop_map(|(name, kind, (thread, start, dur), args)| event(name, kind, [thread, start, dur], &args));
    prop::collection::vec(drawn, 0..30)
}

/// Possible inputs of a node, with their types.
fn node() -> impl Strategy<Value = Value> {
    let types = prop::sample::select(vec!["String", "Int", "Tensor(float)", "GenericList[Tensor(long int)]"]);
    let tensors = Just(json!([[7, 8, 0, i64::MAX, 4, "cuda:0"]]));
    let inputs = prop::collection::vec((prop_oneof![said(), tensors], types), 0..9);
    (1..9_u64, inputs).prop_map(|(id, inputs)| {
        let (values, types): (Vec<Value>, Vec<&str>) = inputs.into_iter().unzip();
        record(id, &json!(values), &json!(types), &[("rf_id", json!(id))])
    })
}

proptest! {
    #[test]
    fn whatever_records_say_is_answered(events in events(), nodes in prop::collection::vec(node(), 1..8)) {
        let linked = linked(&[json!({"traceEvents": events}), json!({"nodes": nodes})]);
        let table = kinetoscope::table::table("collectives").unwrap();
        for column in table.columns {
            column.values(&linked, 0..(table.num_rows)(&linked));
        }
        param_comms(&linked);
        let devices: Vec<u32> = linked.collectives().rows.iter().flat_map(|row| row.device_events.clone()).collect();
        let mut once = devices.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), devices.len());
    }
}
