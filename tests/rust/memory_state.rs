//! Tests the allocator's memory at a moment, against an allocator that is simulated beside it.

use std::collections::BTreeMap;
use std::sync::Arc;

use kinetoscope::analyze::{AnalysisResult, memory_of_snapshot, memory_state};
use kinetoscope::table::TableRows;
use kinetoscope::view::MemorySession;
use kinetoscope::{Input, Limits, MemorySnapshot, Recording, read_file};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

const SEGMENT: u64 = 2 << 20;

fn snapshot(value: &Value) -> MemorySnapshot {
    match read_file(Input::new(value.to_string().as_bytes()), Limits::default()).unwrap() {
        Recording::MemorySnapshot(snapshot) => *snapshot,
        _ => unreachable!("the keys are those of a snapshot"),
    }
}

fn table<'a>(answer: &'a AnalysisResult, name: &str) -> &'a Arc<dyn TableRows> {
    answer.tables.iter().find(|table| table.name() == name).unwrap()
}

/// Pieces of the layout: address, bytes and state.
fn pieces(snapshot: &MemorySnapshot, at: &str) -> Vec<(u64, i64, String)> {
    let answer = memory_state(snapshot, at).unwrap();
    let row = |row: Value| {
        let state = row["state"].as_str().unwrap().to_owned();
        (row["address"].as_u64().unwrap(), row["bytes"].as_i64().unwrap(), state)
    };
    let mut found: Vec<_> = files::rows(&**table(&answer, "memory_layout")).into_iter().map(row).collect();
    found.sort();
    found
}

/// An allocator with segments of 2 MiB.
#[derive(Debug, Clone, Default)]
struct Allocator {
    segments: Vec<u64>,
    /// Size of each block in use, and whether the program has given it back.
    blocks: BTreeMap<u64, (u64, bool)>,
}

impl Allocator {
    /// Does something that a number chooses; the action, if something was possible.
    fn act(&mut self, choice: u64) -> Option<Value> {
        let action = |kind: &str, address: u64, size: u64| json!({"action": kind, "addr": address, "size": size});
        let pick = (choice / 8) as usize;
        let block = |is_waiting: bool| {
            let of_kind: Vec<_> = self.blocks.iter().filter(|(_, (_, waits))| *waits == is_waiting).collect();
            of_kind.get(pick % of_kind.len().max(1)).map(|(address, (size, _))| (**address, *size))
        };
        match choice % 8 {
            0 => {
                let address = (1..=self.segments.len() as u64 + 1)
                    .map(|at| at * 16 * SEGMENT)
                    .find(|at| !self.segments.contains(at))?;
                self.segments.push(address);
                Some(action("segment_alloc", address, SEGMENT))
            }
            1 => {
                let is_free = |segment: &u64| self.blocks.range(*segment..segment + SEGMENT).next().is_none();
                let at = self.segments.iter().position(is_free)?;
                let address = self.segments.remove(at);
                Some(action("segment_free", address, SEGMENT))
            }
            2..=4 => {
                let segment = *self.segments.get(pick % self.segments.len().max(1))?;
                let size = 512 * (1 + choice / 64 % 2_000);
                let used = self.blocks.range(segment..segment + SEGMENT).next_back();
                let address = used.map_or(segment, |(address, (size, _))| address + size);
                if address + size > segment + SEGMENT {
                    return None;
                }
                self.blocks.insert(address, (size, false));
                Some(action("alloc", address, size))
            }
            5 => {
                let (address, size) = block(false)?;
                self.blocks.insert(address, (size, true));
                Some(action("free_requested", address, size))
            }
            _ => {
                let (address, size) = block(true)?;
                self.blocks.remove(&address);
                Some(action("free_completed", address, size))
            }
        }
    }

    fn pieces(&self) -> Vec<(u64, i64, String)> {
        let mut found = Vec::new();
        for segment in &self.segments {
            let blocks: Vec<_> = self.blocks.range(*segment..segment + SEGMENT).collect();
            let free = if blocks.is_empty() { "cached" } else { "split" };
            let mut next = *segment;
            for (address, (size, waits)) in blocks {
                if next < *address {
                    found.push((next, (address - next) as i64, free.to_owned()));
                }
                found.push((*address, *size as i64, if *waits { "waiting" } else { "used" }.to_owned()));
                next = address + size;
            }
            if next < segment + SEGMENT {
                found.push((next, (segment + SEGMENT - next) as i64, free.to_owned()));
            }
        }
        found.sort();
        found
    }

    /// The snapshot of now, without the first actions.
    fn snapshot(&self, actions: &[Value]) -> Value {
        let block = |(address, (size, waits)): (&u64, &(u64, bool))| {
            let state = if *waits { "active_pending_free" } else { "active_allocated" };
            json!({"address": address, "size": size, "requested_size": size, "state": state})
        };
        let segment = |address: &u64| {
            let blocks: Vec<_> = self.blocks.range(*address..address + SEGMENT).map(block).collect();
            json!({"device": 0, "address": address, "total_size": SEGMENT, "blocks": blocks})
        };
        let segments: Vec<_> = self.segments.iter().map(segment).collect();
        json!({"segments": segments, "device_traces": [actions]})
    }
}

proptest! {
    #[test]
    fn each_moment_is_as_the_allocator_was(
        choices in prop::collection::vec(any::<u64>(), 1..150),
        lost in 0..40_usize,
    ) {
        let mut allocator = Allocator::default();
        let (mut actions, mut states) = (Vec::new(), Vec::new());
        for choice in choices {
            if let Some(action) = allocator.act(choice) {
                actions.push(action);
                states.push(allocator.pieces());
            }
        }
        // The recording keeps the last actions.
        let lost = lost.min(actions.len());
        let read = snapshot(&allocator.snapshot(&actions[lost..]));
        for (row, expected) in states[lost..].iter().enumerate() {
            prop_assert_eq!(&pieces(&read, &row.to_string()), expected, "after action {}", row);
        }
        prop_assert_eq!(pieces(&read, "end"), allocator.pieces());
    }
}

#[test]
fn at_the_end_the_pieces_are_the_blocks_of_the_file() {
    let file = files::bytes("memory_cuda/failed.pickle.gz");
    let Recording::MemorySnapshot(read) = read_file(Input::new(&file), Limits::default()).unwrap() else {
        unreachable!("it is a snapshot")
    };
    let found: Vec<_> = pieces(&read, "end").into_iter().map(|(address, bytes, _)| (address, bytes)).collect();
    let mut blocks: Vec<_> = read.blocks.iter().map(|block| (block.address.unwrap(), block.size.unwrap())).collect();
    blocks.sort_unstable();
    assert_eq!(found, blocks);
}

#[test]
fn expandable_segments_grow_and_shrink() {
    let action = |kind: &str, address: u64, size: u64| json!({"action": kind, "addr": address, "size": size});
    let read = snapshot(&json!({
        "segments": [{"device": 0, "address": 4096, "total_size": 4096, "is_expandable": true, "blocks": []}],
        "device_traces": [[
            action("segment_map", 0, 4096),
            action("segment_map", 4096, 4096),
            action("segment_map", 8192, 4096),
            action("segment_unmap", 0, 4096),
            action("segment_unmap", 8192, 4096),
        ]],
    }));
    let sizes = |at: &str| pieces(&read, at).into_iter().map(|(at, bytes, _)| (at, bytes)).collect::<Vec<_>>();
    assert_eq!(sizes("0"), [(0, 4096)]);
    assert_eq!(sizes("2"), [(0, 12288)]);
    assert_eq!(sizes("3"), [(4096, 8192)]);
    assert_eq!(sizes("end"), [(4096, 4096)]);
}

#[test]
fn a_rest_that_is_never_cut_off_belongs_to_its_block() {
    let large = 20 << 20;
    let actions = json!([
        {"action": "alloc", "addr": 0, "size": large - (1 << 20) - 512},
        {"action": "free_completed", "addr": 0, "size": large - (1 << 20) - 512},
        {"action": "alloc", "addr": 0, "size": large - (1 << 20)},
        {"action": "free_completed", "addr": 0, "size": large - (1 << 20)},
    ]);
    let segment = json!({"device": 0, "address": 0, "total_size": large, "blocks": []});
    let read = snapshot(&json!({"segments": [segment], "device_traces": [actions]}));
    let used = |at: &str| pieces(&read, at)[0].1;
    assert_eq!(used("0"), large - (1 << 20) - 512);
    assert_eq!(used("2"), large);
    let row = files::rows(&**table(&memory_of_snapshot(&read), "memory"))[0].clone();
    assert_eq!(row["peak_allocated_bytes"], json!(large));
}

#[test]
fn a_block_keeps_its_rest_when_the_next_is_freed() {
    let action = |kind: &str, address: u64, size: u64| json!({"action": kind, "addr": address, "size": size});
    let (half, large) = (10 << 20, 20_u64 << 20);
    let actions = json!([
        action("alloc", half, half),
        action("alloc", 0, half - 1_024),
        action("free_completed", half, half),
        action("free_completed", 0, half - 1_024),
    ]);
    let segment = json!({"device": 0, "address": 0, "total_size": large, "blocks": []});
    let read = snapshot(&json!({"segments": [segment], "device_traces": [actions]}));
    let used = |at: &str| {
        let rows = files::rows(&**table(&memory_state(&read, at).unwrap(), "memory_pools"));
        rows[0]["allocated_bytes"].as_u64().unwrap()
    };
    assert_eq!((used("1"), used("2")), (large, half));
    let series = files::rows(&**table(&memory_of_snapshot(&read), "memory_series"));
    let allocated: Vec<_> = series.iter().map(|row| row["allocated_bytes"].as_u64().unwrap()).collect();
    assert_eq!(allocated, [half, large, half, 0]);
    // Another allocation in the rest shows that it was cut off.
    let actions = json!([action("alloc", 0, large - 1_024), action("alloc", large - 512, 512)]);
    let blocks = json!([{"address": large - 512, "size": 512, "state": "active_allocated"}]);
    let segment = json!({"device": 0, "address": 0, "total_size": large, "blocks": blocks});
    let read = snapshot(&json!({"segments": [segment], "device_traces": [actions]}));
    let peak = &files::rows(&**table(&memory_of_snapshot(&read), "memory"))[0];
    assert_eq!(peak["peak_allocated_bytes"].as_u64().unwrap(), large - 512);
    let rows = files::rows(&**table(&memory_state(&read, "peak").unwrap(), "memory_pools"));
    assert_eq!(rows[0]["allocated_bytes"].as_u64().unwrap(), large - 512);
}

/// A snapshot in which 100 bytes are asked for, with so much free: on the device, in the same pool,
/// for another stream, waiting, and in a private pool.
fn failing(device: i64, same: i64, stream: i64, waiting: i64, private: i64) -> MemorySnapshot {
    let mut address = 0_i64;
    let mut segment = |free: i64, stream: i64, pool: [i64; 2], state: &str| {
        address += 1 << 30;
        let used = json!({"address": address, "size": 1_000, "state": "active_allocated"});
        let block = json!({"address": address + 1_000, "size": free, "state": state});
        json!({"device": 0, "address": address, "total_size": 1_000 + free, "stream": stream,
            "segment_pool_id": pool, "blocks": [used, block]})
    };
    let segments = [
        segment(same, 0, [0, 0], "inactive"),
        segment(stream, 7, [0, 0], "inactive"),
        segment(waiting, 0, [0, 0], "active_pending_free"),
        segment(private, 0, [0, 1], "inactive"),
    ];
    let waits = json!({"action": "free_requested", "addr": 3_i64 * (1 << 30) + 1_000, "size": waiting});
    let oom = json!({"action": "oom", "size": 100, "device_free": device, "stream": 0, "pool_id": [0, 0]});
    snapshot(&json!({"segments": segments, "device_traces": [[waits, oom]]}))
}

#[test]
fn the_cause_is_what_would_have_been_enough() {
    let cause = |snapshot: &MemorySnapshot| {
        let answer = memory_of_snapshot(snapshot);
        files::rows(&**table(&answer, "out_of_memory"))[0].clone()
    };
    let cases = [
        ("limit", failing(100, 10, 0, 0, 0)),
        ("pieces", failing(60, 40, 0, 0, 0)),
        ("streams", failing(50, 40, 10, 0, 0)),
        ("waiting", failing(50, 30, 10, 10, 0)),
        ("private_pools", failing(20, 20, 20, 20, 20)),
        ("in_use", failing(20, 20, 20, 20, 19)),
    ];
    for (expected, snapshot) in &cases {
        let row = cause(snapshot);
        assert_eq!(row["cause"], json!(expected), "{row}");
        assert!(!row["advice"].as_str().unwrap().is_empty());
    }
    let row = cause(&failing(20, 21, 22, 23, 24));
    let bytes = ["asked_bytes", "usable_bytes", "other_streams_bytes", "waiting_bytes", "private_bytes"];
    assert_eq!(bytes.map(|name| row[name].as_i64().unwrap()), [100, 21, 22, 23, 24]);
    // Both a higher limit and fewer pieces would help.
    let advice = cause(&failing(100, 100, 0, 0, 0))["advice"].as_str().unwrap().to_owned();
    assert!(advice.contains("set_per_process_memory_fraction") && advice.contains("expandable_segments"), "{advice}");
    let unknown = snapshot(&json!({"segments": [], "device_traces": [[{"action": "oom", "size": 5}]]}));
    assert_eq!(cause(&unknown)["cause"], Value::Null);
}

#[test]
fn the_peak_of_blocks_ends_when_the_program_gives_them_back() {
    let action = |kind: &str, address: u64, size: u64| json!({"action": kind, "addr": address, "size": size});
    let read = snapshot(&json!({"segments": [], "device_traces": [[
        action("alloc", 0, 500),
        action("free_requested", 0, 500),
        action("alloc", 1_024, 513),
        action("free_completed", 0, 500),
    ]]}));
    let row = files::rows(&**table(&memory_of_snapshot(&read), "memory"))[0].clone();
    assert_eq!(row["peak_requested_bytes"], json!(1_013));
    assert_eq!(row["peak_allocated_bytes"], json!(1_024));
}

#[test]
fn origins_of_backward_passes_are_operators() {
    let frame = |name: &str| json!({"name": name, "filename": "??", "line": 0});
    let stack = [
        frame("torch::unwind::unwind()"),
        frame("at::_ops::mm::redispatch(c10::DispatchKeySet)"),
        frame("torch::autograd::generated::details::mm_mat2_backward(at::Tensor const&)"),
        frame("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)"),
    ];
    let site = |stack: &[Value]| {
        let block = json!({"address": 0, "size": 512, "state": "active_allocated", "frames": stack});
        let segment = json!({"device": 0, "address": 0, "total_size": 512, "blocks": [block]});
        let read = snapshot(&json!({"segments": [segment], "device_traces": []}));
        files::rows(&**table(&memory_of_snapshot(&read), "memory_holders"))[0]["site"].clone()
    };
    assert_eq!(site(&stack), json!("AddmmBackward0: aten::mm"));
    assert_eq!(site(&stack[..2]), json!("aten::mm"));
    assert_eq!(site(&stack[..1]), json!("torch::unwind::unwind() (??:0)"));
}

#[test]
fn impossible_addresses_and_sizes_are_survived() {
    let extremes = [0_i64, 1, -1, i64::MAX, i64::MIN];
    for address in [0_u64, 1, u64::MAX - 1, u64::MAX] {
        for size in extremes {
            let segment = json!({"device": 0, "address": address, "total_size": size, "blocks": [
                {"address": address, "size": size, "requested_size": size, "state": "active_allocated"},
                {"address": address / 2, "size": size, "state": "active_pending_free"},
            ]});
            let kinds =
                ["segment_free", "segment_map", "alloc", "free_requested", "free_completed", "segment_unmap", "oom"];
            let actions: Vec<_> = kinds
                .iter()
                .map(|kind| json!({"action": kind, "addr": address, "size": size, "device_free": size}))
                .collect();
            let read = snapshot(&json!({"segments": [segment.clone(), segment], "device_traces": [actions]}));
            for at in ["end", "peak", "oom", "0", "3"] {
                memory_state(&read, at).unwrap();
            }
            MemorySession::new(read).page("x");
        }
    }
    let empty = snapshot(&json!({"segments": []}));
    for at in ["oom", "0", "-1", "soon", ""] {
        let error = memory_state(&empty, at).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("expected "), "{error}");
    }
}

/// The HTML of an answer.
fn html(session: &MemorySession, request: &Value) -> String {
    let answer = session.query(request.to_string().as_bytes());
    let size = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&answer[4..4 + size]).unwrap();
    header["data"]["html"].as_str().map_or_else(|| header["error"].as_str().unwrap().to_owned(), str::to_owned)
}

#[test]
fn events_are_found_by_function_file_action_and_address() {
    let file = files::bytes("memory_cuda/failed.pickle.gz");
    let Recording::MemorySnapshot(read) = read_file(Input::new(&file), Limits::default()).unwrap() else {
        unreachable!("it is a snapshot")
    };
    let address = format!("{:#x}", read.actions[3].address.unwrap());
    let session = MemorySession::new(*read);
    let found = |text: &str, first: usize| html(&session, &json!({"type": "events", "text": text, "first": first}));
    assert!(found("", 0).contains("1 to 100 of 1,177"));
    assert!(found("", 1_100).contains("1,101 to 1,177 of 1,177"));
    assert!(found("OOM", 0).contains("1 to 1 of 1"));
    assert!(found("segment_free", 0).contains("1 to 2 of 2"));
    assert!(found("fill_up", 0).contains("of ") && !found("fill_up", 0).contains("of 1,177"));
    assert!(found(&address, 0).contains(&address));
    assert!(found("<script>", 0).contains("none matches"));
    assert!(html(&session, &json!({"type": "state", "at": "soon"})).starts_with("expected "));
    assert!(html(&session, &json!({"type": "tiles"})).starts_with("expected "));
}

#[test]
fn bands_are_shown_by_time_and_by_action() {
    let frames = json!([{"name": "f", "filename": "train.py", "line": 1}]);
    let action = |kind: &str, time: i64, address: i64, size: i64| json!({"action": kind, "time_us": time, "addr": address, "size": size, "frames": frames});
    // A pause of a second lies between two short allocations.
    let actions = json!([
        action("alloc", 0, 1, 1024),
        action("free_completed", 10, 1, 1024),
        action("alloc", 1_000_000, 2, 2048),
        action("free_completed", 1_000_010, 2, 2048),
    ]);
    let text = json!({"segments": [], "device_traces": [actions]}).to_string();
    let Recording::MemorySnapshot(read) = read_file(Input::new(text.as_bytes()), Limits::default()).unwrap() else {
        unreachable!("it is a snapshot")
    };
    let session = MemorySession::new(*read);
    let bands = |axis: &str, start: f64, end: f64| {
        html(&session, &json!({"type": "bands", "axis": axis, "start": start, "end": end}))
    };
    let by_action = bands("actions", 0.0, 4.0);
    assert!(by_action.contains("f (train.py:1): 1 KiB, here for 1 action<") && by_action.contains("2 KiB, here for 1"));
    assert!(!by_action.contains(" ms"), "no time is told");
    let by_time = bands("time", 0.0, 1e15);
    assert!(by_time.contains("over time") && by_time.contains("peak 2 KiB"));
    assert!(!by_time.contains("here for"), "ten microseconds of a second are no pixel");
    assert!(bands("time", 0.0, 20_000.0).contains("1 KiB, here for 10 µs"));
    let second = bands("actions", 2.0, 4.0);
    assert!(second.contains("2 KiB") && !second.contains("1 KiB, here"));
    assert!(bands("actions", 1e300, -1e300).contains("nothing is in use"));
    assert!(bands("space", 0.0, 1.0).starts_with("expected the axis time or actions"));
}

#[test]
fn an_allocation_is_told_in_full() {
    let stack = |line: i64| json!([{"name": "f", "filename": "a.py", "line": line}, {"name": "<b>\u{202e}", "filename": "b.py"}]);
    let action = |kind: &str, time: i64, address: i64, line: i64| json!({"action": kind, "time_us": time, "addr": address, "size": 1024, "frames": stack(line)});
    // Three of one size: one from before, and two that are made one after the other.
    let actions = json!([
        action("alloc", 10, 1, 1),
        action("alloc", 20, 2, 2),
        action("free_completed", 30, 3, 3),
        action("free_completed", 40, 1, 4),
        action("oom", 50, 9, 5),
    ]);
    let session = MemorySession::new(snapshot(&json!({"segments": [], "device_traces": [actions]})));
    let answer = |request: &Value| {
        let bytes = session.query(request.to_string().as_bytes());
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        header["data"].clone()
    };
    let drawn = answer(&json!({"type": "bands", "axis": "actions", "start": 0.0, "end": 4.0}));
    let rows: Vec<usize> = drawn["html"]
        .as_str()
        .unwrap()
        .split("data-row=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
        .collect();
    assert!(rows.len() >= 4, "pieces of three allocations");
    let told = |axis: &str, row: usize| {
        let lines = answer(
            &json!({"type": "band", "axis": axis, "start": 0.0, "end": if axis == "time" { 40_000.0 } else { 4.0 }, "row": row}),
        );
        lines["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let found: Vec<Vec<String>> = rows.iter().map(|row| told("actions", *row)).collect();
    let facts = |facts: &str| {
        found.iter().find(|lines| lines[1].contains(facts)).unwrap_or_else(|| panic!("{facts}: {found:?}"))
    };
    facts("1 KiB (1024 bytes), unknown, from before the first action to action 2");
    assert_eq!(facts("from action 0 to action 3, for 3 actions")[2..], ["f (a.py:1)", "<b> (b.py)"]);
    facts("from action 1 to the end");
    assert!(told("time", 0)[1].contains(" µs") && told("time", 0)[1].starts_with("1 KiB (1024 bytes), "));
    assert_eq!(told("actions", usize::MAX).len(), 1);
    let stack = |row: usize| answer(&json!({"type": "stack", "row": row}))["lines"].clone();
    assert_eq!(stack(3), json!(["f (a.py:4)", "<b> (b.py)"]));
    assert_eq!(stack(usize::MAX), json!(["no stack was recorded"]));
    let row = |at: &str| answer(&json!({"type": "state", "at": at}))["row"].clone();
    assert_eq!((row("end"), row("oom"), row("2"), row("peak")), (json!(4), json!(4), json!(2), json!(1)));
}
