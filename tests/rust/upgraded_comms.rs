//! Tests upgraded files with a reader that expects the attributes that PARAM's own expects.

use kinetoscope::edit::{ExecutionEdit, edit};
use kinetoscope::write::execution::write_execution;
use kinetoscope::{Input, Limits, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::param::{LIST, any_node, group, node, tensor};

/// Old layouts of the records of a job: flat, and with attributes but without those of
/// communications.
fn older(schema: &str) -> Value {
    let parts = |node: Value| {
        let flat = schema == "1.0.1";
        if !flat {
            return node;
        }
        json!({"id": node["id"], "name": node["name"], "rf_id": node["id"], "parent": 1, "fw_parent": 0, "seq_id": -1, "scope": 0,
            "tid": 1, "fw_tid": 0, "op_schema": "", "inputs": node["inputs"]["values"], "input_shapes": node["inputs"]["shapes"],
            "input_types": node["inputs"]["types"], "outputs": node["outputs"]["values"],
            "output_shapes": node["outputs"]["shapes"], "output_types": node["outputs"]["types"]})
    };
    let (config, identifier, kind) = match schema {
        "1.0.3-chakra.0.0.4" => (
            json!([{"pg_name": "0", "pg_desc": "dp", "ranks": [], "group_size": 2, "group_count": 1}]),
            json!(["0", "dp"]),
            "Tuple[String,String]",
        ),
        _ => (
            json!([{"pg_name": "0", "backend_id": 945_941, "ranks": [], "group_size": 2, "group_count": 1}]),
            json!(945_941),
            "Int",
        ),
    };
    let tail = match schema {
        "1.0.1" => (vec![], vec![]),
        "1.0.2-chakra.0.0.4" => (vec![json!(2)], vec!["Int"]),
        _ => (vec![json!(0), json!(1), json!(2)], vec!["Int", "Int", "Int"]),
    };
    let call = |id: u64, name: &str, list: bool, elems: [i64; 2], splits: [Value; 2]| {
        let wrap = |elems: i64| if list { json!([tensor(elems)]) } else { tensor(elems) };
        let shape = |elems: i64| if list { json!([[elems]]) } else { json!([elems]) };
        let type_name = if list { LIST } else { "Tensor(float)" };
        let mut values = vec![
            wrap(elems[0]),
            json!(id),
            identifier.clone(),
            json!(1),
            json!(name),
            splits[0].clone(),
            splits[1].clone(),
        ];
        let mut types = vec![type_name, "Int", kind, "Int", "String", "GenericList[Int,Int]", "GenericList[Int,Int]"];
        values.extend(tail.0.clone());
        types.extend(tail.1.clone());
        let mut shapes = vec![json!([]); values.len()];
        shapes[0] = shape(elems[0]);
        let outputs = json!({"values": [wrap(elems[1])], "shapes": [shape(elems[1])], "types": [type_name]});
        node(id, "record_param_comms", [json!(values), json!(shapes), json!(types)], &outputs, &json!([]))
    };
    let mut wait = call(16, "wait", false, [0, 0], [json!([]), json!([])]);
    for key in ["values", "shapes", "types"] {
        wait["inputs"][key].as_array_mut().unwrap().remove(0);
        wait["outputs"][key] = json!([]);
    }
    if identifier.is_array() {
        wait["inputs"]["values"][1] = json!(["", ""]);
    }
    let none = || [json!([]), json!([])];
    let nodes = [
        group(&config),
        call(10, "allreduce", true, [8, 8], none()),
        call(12, "broadcast", true, [8, 8], none()),
        call(13, "all_to_allv", false, [4, 6], [json!([1, 3]), json!([2, 4])]),
        call(14, "all_to_all", false, [4, 4], none()),
        wait,
        call(18, "send", true, [8, 8], none()),
    ];
    let nodes: Vec<_> = nodes.into_iter().map(parts).collect();
    json!({"schema": schema, "pid": 7, "nodes": nodes})
}

/// The communication of a node as PARAM's reader of Execution Traces takes it, since 1.1.0.
fn load_node(node: &Value, num_ranks: usize) -> Result<Value, String> {
    let attr =
        |key: &str| node["attrs"].as_array()?.iter().find(|attr| attr["name"] == key).map(|attr| attr["value"].clone());
    let need = |key: &str| attr(key).ok_or_else(|| format!("no {key} in {node}"));
    let inputs = &node["inputs"]["values"];
    let base = usize::from(
        !(inputs[0].is_i64() || inputs[0].as_array().is_some_and(|pair| pair.len() == 2 && pair[1].is_boolean())),
    );
    let name = need("collective_name")?;
    let name = name.as_str().ok_or("a name")?;
    if name == "wait" || name == "barrier" {
        return Ok(json!([name]));
    }
    let group = need("pg_name")?;
    let sizes = [need("in_msg_nelems")?, need("out_msg_nelems")?];
    let dtype = need("dtype")?;
    let splits = match name {
        "all_to_allv" => [need("in_split_size")?, need("out_split_size")?],
        _ => [Value::Null, Value::Null],
    };
    let lists = splits.iter().filter_map(Value::as_str).all(|list| serde_json::from_str::<Vec<i64>>(list).is_ok());
    let rank = inputs[base + 2].as_u64().ok_or("a rank")? as usize;
    if !lists || rank >= num_ranks {
        return Err(format!("{splits:?}, rank {rank}"));
    }
    Ok(json!([name, group, sizes, dtype, splits]))
}

#[test]
fn upgraded_files_load_from_every_old_layout() {
    for schema in ["1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4"] {
        let text = older(schema).to_string();
        let trace = read([Input::new(text.as_bytes())], Limits::default()).unwrap();
        let upgraded = edit(&trace, ExecutionEdit { upgrade: true, ..ExecutionEdit::default() }).unwrap();
        let mut out = Vec::new();
        write_execution(&upgraded, &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["schema"], "1.1.1-chakra.0.0.4");
        let nodes = document["nodes"].as_array().unwrap();
        let config: Value = serde_json::from_str(nodes[0]["inputs"]["values"][0].as_str().unwrap()).unwrap();
        for key in ["pg_name", "pg_desc", "ranks", "group_size", "group_count"] {
            assert!(config[0].get(key).is_some(), "{schema}: {key}");
        }
        let found: Vec<_> = nodes[1..].iter().map(|node| load_node(node, 2).expect(schema)).collect();
        let expected = [
            json!(["allreduce", "0", [8, 8], "Float", [null, null]]),
            json!(["broadcast", "0", [8, 8], "Float", [null, null]]),
            json!(["all_to_allv", "0", [4, 6], "Float", ["[1,3]", "[2,4]"]]),
            json!(["all_to_allv", "0", [4, 4], "Float", ["[]", "[]"]]),
            json!(["wait"]),
            json!(["send", "0", [8, 8], "Float", [null, null]]),
        ];
        assert_eq!(found, expected, "{schema}");
        let attrs = |node: &Value| -> Vec<(String, Value)> {
            let all = node["attrs"].as_array().unwrap().iter();
            all.map(|attr| (attr["name"].as_str().unwrap().to_owned(), attr["value"].clone())).collect()
        };
        let value = |node: usize, key: &str| {
            attrs(&nodes[node]).into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
        };
        assert_eq!(value(1, "pg_size"), Some(json!(2)), "{schema}");
        let start = (schema == "1.0.3-chakra.0.0.4").then(|| json!(0));
        assert_eq!(value(1, "global_rank_start"), start, "{schema}");
        assert_eq!((value(5, "dtype"), value(5, "pg_name")), (Some(json!("Byte")), None), "{schema}");
        // The newest layout is complete: a second upgrade changes nothing.
        let again = edit(&upgraded, ExecutionEdit { upgrade: true, ..ExecutionEdit::default() }).unwrap();
        let mut second = Vec::new();
        write_execution(&again, &mut second).unwrap();
        assert_eq!(out, second);
    }
}

proptest! {
    #[test]
    fn any_record_can_be_upgraded(nodes in prop::collection::vec(any_node(), 1..12)) {
        let text = json!({"schema": "1.0.3-chakra.0.0.4", "nodes": nodes}).to_string();
        let trace = read([Input::new(text.as_bytes())], Limits::default()).unwrap();
        let upgraded = edit(&trace, ExecutionEdit { upgrade: true, ..ExecutionEdit::default() }).unwrap();
        prop_assert_eq!(upgraded.nodes.len(), trace.nodes.len());
    }
}
