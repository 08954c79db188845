use serde_json::{Value, json};

use super::*;
use crate::read::pickle::read_pickle;

fn read_bytes(bytes: &[u8]) -> Result<MemorySnapshot, Error> {
    read_memory_snapshot(read_pickle(bytes, None)?, bytes.len(), None)
}

/// A pickle of a JSON value.
fn pickled(value: &Value) -> Vec<u8> {
    let mut out = vec![0x80, 4];
    pickle(value, &mut out);
    out.push(b'.');
    out
}

fn pickle(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(b'N'),
        Value::Bool(flag) => out.push(if *flag { 0x88 } else { 0x89 }),
        Value::Number(number) => {
            let number: i128 = number.to_string().parse().unwrap();
            out.extend([0x8a, 16]);
            out.extend(number.to_le_bytes());
        }
        Value::String(text) => {
            out.push(b'X');
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text.bytes());
        }
        Value::Array(items) => {
            out.extend(b"](");
            items.iter().for_each(|item| pickle(item, out));
            out.push(b'e');
        }
        Value::Object(entries) => {
            out.extend(b"}(");
            for (key, value) in entries {
                pickle(&json!(key), out);
                pickle(value, out);
            }
            out.push(b'u');
        }
    }
}

fn read(value: &Value) -> MemorySnapshot {
    read_bytes(&pickled(value)).unwrap()
}

fn error(bytes: &[u8]) -> String {
    read_bytes(bytes).unwrap_err().to_string()
}

fn warnings(snapshot: &MemorySnapshot) -> Vec<(&str, u64)> {
    snapshot.warnings.iter().map(|warning| (warning.kind.name(), warning.count)).collect()
}

#[test]
fn rows_are_in_the_order_of_the_file() {
    let frames = json!([{"name": "f", "filename": "a.py", "line": 3}, {"name": "g", "filename": "a.py", "line": 9, "fx_node_op": "x"}]);
    let snapshot = read(&json!({
        "segments": [
            {"device": 1, "address": 140_737_488_355_328_u64, "total_size": 100, "allocated_size": 40, "active_size": 40,
             "requested_size": 33, "stream": 0, "segment_type": "small", "segment_pool_id": [0, 2], "is_expandable": false,
             "frames": frames, "registration_counter": -1, "blocks": [
                {"address": 7, "size": 40, "requested_size": 33, "state": "active_allocated", "frames": frames},
                {"size": 60, "state": "inactive", "frames": []}]},
        ],
        "device_traces": [[], [
            {"action": "alloc", "addr": 7, "size": 33, "stream": 0, "time_us": 1_776_479_641_085_368_i64, "frames": frames,
             "compile_context": "N/A", "user_metadata": "", "pool_id": [0, 0]},
            {"action": "oom", "device_free": 5, "size": 1000, "stream": 4, "category": "input"}]],
        "host_traces": [{"action": "alloc", "addr": 1}],
        "external_annotations": [{"name": "step", "stage": "START", "device": 1, "time_us": 2, "color": "red"}],
        "allocator_settings": {"expandable_segments": true, "roundup": {"1": 0}}
    }));
    let text = |id| snapshot.strings.text(id);
    let segment = snapshot.segments[0];
    assert_eq!((segment.device, segment.address, segment.size), (Some(1), Some(1 << 47), Some(100)));
    assert_eq!((text(segment.segment_type), text(segment.pool)), ("small", "[0,2]"));
    assert_eq!((segment.is_expandable, text(segment.extra)), (Some(false), r#"{"registration_counter":-1}"#));
    let blocks: Vec<_> = snapshot.blocks.iter().map(|row| (row.address, row.requested, text(row.state))).collect();
    assert_eq!(blocks, [(Some(7), Some(33), "active_allocated"), (Some(47), None, "inactive")]);
    assert_eq!((snapshot.blocks[0].stack, snapshot.blocks[1].stack), (segment.stack, None));
    let [alloc, oom, host] = snapshot.actions[..] else { panic!("{:?}", snapshot.actions) };
    assert_eq!((alloc.device, alloc.time.unwrap().0, text(alloc.pool)), (Some(1), 1_776_479_641_085_368_000, "[0,0]"));
    assert_eq!((text(alloc.compile_context), text(alloc.user_metadata), alloc.stack), ("N/A", "", segment.stack));
    assert_eq!((oom.address, oom.device_free, text(oom.extra)), (None, Some(5), r#"{"category":"input"}"#));
    assert_eq!((host.device, host.address), (None, Some(1)));
    assert_eq!(text(snapshot.annotations[0].extra), r#"{"color":"red"}"#);
    assert_eq!((snapshot.stacks.len(), snapshot.stacks.num_members()), (1, 2));
    assert_eq!(text(snapshot.stacks.member(1).2.extra), r#"{"fx_node_op":"x"}"#);
    assert_eq!(snapshot.metadata, r#"{"allocator_settings":{"expandable_segments":true,"roundup":{"1":0}}}"#);
    assert_eq!(warnings(&snapshot), []);
}

#[test]
fn segments_alone_with_histories_are_read() {
    let frames = json!([{"name": "f", "filename": "a.py", "line": 3}]);
    let snapshot = read(&json!([
        {"device": 0, "address": 1000, "total_size": 512, "blocks": [
            {"size": 128, "state": "inactive"},
            {"size": 384, "state": "active_allocated", "history": [
                {"addr": 1128, "real_size": 300, "frames": frames, "cpp_frames": ["c"]},
                {"addr": 1200, "real_size": 20}]}]},
        {"address": null, "blocks": [{"size": 1}]}
    ]));
    let addresses: Vec<_> = snapshot.blocks.iter().map(|block| block.address).collect();
    assert_eq!(addresses, [Some(1000), Some(1128), None]);
    assert_eq!((snapshot.blocks[1].requested, snapshot.blocks[1].stack.is_some()), (Some(300), true));
    let past: Vec<_> = snapshot.past_blocks.iter().map(|row| (row.block, row.address, row.requested)).collect();
    assert_eq!(past, [(1, Some(1128), Some(300)), (1, Some(1200), Some(20))]);
    assert_eq!(snapshot.strings.text(snapshot.past_blocks[0].extra), r#"{"cpp_frames":["c"]}"#);
    assert_eq!(warnings(&snapshot), []);
}

#[test]
fn what_does_not_fit_is_counted() {
    let snapshot = read(&json!({
        "segments": [3, {"address": -1, "device": "cuda", "is_expandable": 1, "stream": null, "blocks": {"size": 2}}],
        "device_traces": [{}, [{"action": 7, "time_us": 9_223_372_036_854_775_807_i64, "frames": ["f", {"line": "x"}]}]],
        "external_annotations": 5
    }));
    assert_eq!((snapshot.segments.len(), snapshot.blocks.len(), snapshot.actions.len()), (1, 0, 1));
    assert_eq!(snapshot.strings.text(snapshot.actions[0].action), "7");
    assert_eq!(snapshot.metadata, r#"{"external_annotations":5}"#);
    assert_eq!(warnings(&snapshot), [("not_an_entry", 4), ("unexpected_type", 3), ("invalid_number", 2)]);
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let expected =
        "expected a memory snapshot: a dict with `segments` or `device_traces`, or a list of segments, found ";
    for (value, found) in [
        (json!({"model": 1, "epoch": 2}), r#"a dict with ["epoch", "model"]"#),
        (json!([{"loss": 1}]), "a list"),
        (json!(5), "an int"),
    ] {
        assert_eq!(error(&pickled(&value)), format!("{expected}{found} (byte 0)"));
    }
    assert!(read(&json!([])).segments.is_empty());
}

#[test]
fn a_pickle_cut_anywhere_is_an_error() {
    let whole = pickled(&json!({"segments": [{"address": 5, "blocks": [{"size": 2}]}], "device_traces": []}));
    for end in 0..whole.len() {
        assert!(error(&whole[..end]).contains("the end of the file"), "{end}");
    }
}

/// A dict with one key, whose value `value` leaves on the stack.
fn dict(key: &str, value: &[u8]) -> Vec<u8> {
    let mut out = b"}".to_vec();
    pickle(&json!(key), &mut out);
    [&out, value, b"s"].concat()
}

#[test]
fn rows_that_are_referred_to_again_are_read_once() {
    // One list of a thousand blocks, in a thousand segments.
    let blocks: Vec<u8> = (0..1000).flat_map(|_| dict("size", b"K\x01")).collect();
    let list = [&b"]("[..], &blocks, b"eq\x01"].concat();
    let segments: Vec<u8> = (0..1000).flat_map(|_| dict("blocks", b"h\x01")).collect();
    let bytes = [&list[..], b"0", &dict("segments", &[&b"]("[..], &segments, b"e"].concat()), b"."].concat();
    let snapshot = read_bytes(&bytes).unwrap();
    assert_eq!((snapshot.segments.len(), snapshot.blocks.len()), (1000, 1000));
    assert_eq!(warnings(&snapshot), [("shared_row", 999)]);
    // A list of one segment, again and again, and of itself.
    let bytes = [&b"]q\x00}q\x01("[..], &pickled(&json!("blocks"))[2..14], b"h\x00uah\x01ah\x00a."].concat();
    let snapshot = read_bytes(&bytes);
    assert!(snapshot.is_err(), "{snapshot:?}");
}

#[test]
fn what_is_referred_to_without_end_is_left_out() {
    // Each list holds the one before twice: written out, 2^40 of them.
    let mut bomb = b"]q\x00".to_vec();
    (0..40_u8).for_each(|depth| bomb.extend([b'0', b']', b'q', depth + 1, b'(', b'h', depth, b'h', depth, b'e']));
    let bytes = [&dict("segments", b"]"), &dict("bomb", &bomb)[1..], b"."].concat();
    let snapshot = read_bytes(&bytes).unwrap();
    assert_eq!(snapshot.metadata, "{}");
    assert_eq!(warnings(&snapshot), [("oversized_value", 1)]);
}
