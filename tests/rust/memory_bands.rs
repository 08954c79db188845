//! Tests bands of memory snapshots: they lie on each other, and add up to the memory in use.

use std::collections::BTreeMap;

use kinetoscope::analyze::memory_of_snapshot;
use kinetoscope::{Input, Limits, MemorySnapshot, Recording, read_file};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// A piece: start, end, bottom, height, origin.
type Piece = (i64, i64, i64, i64, String);

fn snapshot(devices: &[Vec<Value>]) -> MemorySnapshot {
    let text = json!({"segments": [], "device_traces": devices}).to_string();
    match read_file(Input::new(text.as_bytes()), Limits::default()).unwrap() {
        Recording::MemorySnapshot(snapshot) => *snapshot,
        _ => unreachable!("the keys are those of a snapshot"),
    }
}

fn action(kind: &str, time: i64, address: i64, size: i64) -> Value {
    let frames = json!([{"name": format!("f{address}"), "filename": "train.py", "line": 1}]);
    json!({"action": kind, "time_us": time, "addr": address, "size": size, "frames": frames})
}

fn pieces(snapshot: &MemorySnapshot) -> BTreeMap<i64, Vec<Piece>> {
    let answer = memory_of_snapshot(snapshot);
    let bands = answer.tables.iter().find(|table| table.name() == "memory_bands").unwrap();
    let mut found: BTreeMap<i64, Vec<Piece>> = BTreeMap::new();
    for row in files::rows(&**bands) {
        let number = |column: &str| row[column].as_i64().unwrap();
        let site = row["site"].as_str().unwrap().to_owned();
        let piece = (number("start_ns"), number("end_ns"), number("bottom_bytes"), number("bytes"), site);
        found.entry(row["device"].as_i64().unwrap()).or_default().push(piece);
    }
    found
}

#[test]
fn bands_fall_when_one_below_is_freed() {
    let actions = vec![
        action("alloc", 0, 1, 100),
        action("alloc", 10, 2, 50),
        action("free_completed", 20, 1, 100),
        action("alloc", 30, 3, 10),
    ];
    let site = |number: i64| format!("f{number} (train.py:1)");
    let mut found = pieces(&snapshot(&[actions])).remove(&0).unwrap();
    found.sort();
    let expected = [(0, 20_000, 0, 100, site(1)), (10_000, 20_000, 100, 50, site(2)), (20_000, 30_000, 0, 50, site(2))];
    // The last allocation has no time before the recording ends.
    assert_eq!(found, expected);
}

#[test]
fn devices_have_bands_and_clocks_of_their_own() {
    let one = vec![action("alloc", 500, 1, 100), action("free_completed", 900, 1, 100)];
    let other = vec![action("alloc", 100, 1, 7), action("free_completed", 200, 1, 7)];
    let found = pieces(&snapshot(&[one, other]));
    assert_eq!(found[&0], [(500_000, 900_000, 0, 100, String::from("f1 (train.py:1)"))]);
    assert_eq!(found[&1], [(100_000, 200_000, 0, 7, String::from("f1 (train.py:1)"))]);
}

#[test]
fn allocations_without_a_band_are_one_on_top() {
    let large = (0..400).map(|at| action("alloc", at, at, 1_000));
    let small = (0..100).map(|at| action("alloc", 400 + at, 1_000 + at, 1));
    let end = action("alloc", 1_000_000, 5_000, 1_000);
    let actions: Vec<_> = large.chain(small).chain([end]).collect();
    let found = pieces(&snapshot(&[actions])).remove(&0).unwrap();
    let rest: Vec<_> = found.iter().filter(|piece| piece.4 == "101 other allocations").collect();
    // The last makes the peak, which is drawn though nothing is known after it.
    assert_eq!(rest.iter().map(|piece| piece.2 + piece.3).max(), Some(401_100));
    assert_eq!(rest.iter().map(|piece| piece.1).max(), Some(1_000_000_001));
}

proptest! {
    #[test]
    fn bands_neither_overlap_nor_leave_holes(changes in prop::collection::vec((0..12_i64, 1..50_i64), 1..60)) {
        let mut held: BTreeMap<i64, i64> = BTreeMap::new();
        let mut actions = Vec::new();
        for (time, (address, size)) in (0..).zip(&changes) {
            match held.remove(address) {
                Some(size) => actions.push(action("free_completed", time, *address, size)),
                None => {
                    held.insert(*address, *size);
                    actions.push(action("alloc", time, *address, *size));
                }
            }
        }
        let found = pieces(&snapshot(&[actions.clone()])).remove(&0).unwrap_or_default();
        let mut in_use = 0;
        for (time, action) in (0..).zip(&actions) {
            let size = action["size"].as_i64().unwrap();
            in_use += if action["action"] == "alloc" { size } else { -size };
            let at = time * 1_000 + 1;
            let mut there: Vec<_> = found.iter().filter(|piece| piece.0 < at && at <= piece.1).collect();
            there.sort_by_key(|piece| piece.2);
            let mut top = 0;
            for piece in there {
                prop_assert_eq!(piece.2, top);
                top += piece.3;
            }
            // Nothing is known after the last action, except that it may be the peak.
            if time + 1 < actions.len() as i64 {
                prop_assert_eq!(top, in_use);
            }
        }
    }
}
