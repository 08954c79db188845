//! Tests when memory that iterations keep is a leak.

use kinetoscope::analyze::{MIN_SHARE, Selection, findings};
use kinetoscope::time::{TimeRange, Ts};
use serde_json::json;

use crate::scene::{Scene, scene};

const RULE: &str = "memory_leak";
const KIB: i64 = 1024;
const ITERATION_US: i64 = 1_000;

/// A loop whose allocations are numbered by address. Each iteration takes 1 ms.
struct MemoryLoop {
    scene: Scene,
    allocated: i64,
    next: i64,
    has_totals: bool,
}

impl MemoryLoop {
    fn of(num_iterations: i64) -> Self {
        let mut scene = scene();
        for number in 0..num_iterations {
            let start = number * ITERATION_US;
            scene.annotation(&format!("ProfilerStep#{number}"), start, ITERATION_US);
            scene.host("python_function", "train.py(9): step", start + 1, ITERATION_US - 2);
            scene.host("python_function", "nn.Module: Net_0", start + 2, 600);
            scene.host("python_function", "model.py(7): forward", start + 3, 500);
            scene.operator("aten::relu", start + 10, 100);
            scene.operator("aten::mm", start + 700, 100);
        }
        Self { scene, allocated: 0, next: 4096, has_totals: true }
    }

    fn record(&mut self, time: i64, address: i64, bytes: i64) {
        self.allocated += bytes;
        let mut args = json!({"Bytes": bytes, "Addr": address, "Device Type": 1, "Device Id": 0});
        if self.has_totals {
            args["Total Allocated"] = self.allocated.into();
            args["Total Reserved"] = (1_i64 << 30).into();
        }
        self.scene.events.push(json!({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t",
                                      "pid": 1, "tid": 2, "ts": time, "args": args}));
    }

    fn allocate(&mut self, time: i64, bytes: i64) -> i64 {
        self.next += 4096;
        self.record(time, self.next, bytes);
        self.next
    }

    /// In each iteration, takes memory in `aten::relu` and gives back that of so many iterations
    /// before.
    fn passing_on(num_iterations: i64, delay: usize) -> Self {
        let (mut all, mut held) = (Self::of(num_iterations), Vec::new());
        for number in 0..num_iterations {
            held.push(all.allocate(number * ITERATION_US + 20, 64 * KIB));
            if let Some(old) = held.len().checked_sub(delay + 1) {
                all.record(number * ITERATION_US + 900, held[old], -64 * KIB);
            }
        }
        all
    }
}

#[test]
fn memory_that_every_iteration_keeps_is_told_with_its_line() {
    let mut leaking = MemoryLoop::of(6);
    for start in (0..6).map(|number| number * ITERATION_US) {
        leaking.allocate(start + 20, 64 * KIB);
        let passing = leaking.allocate(start + 710, 512 * KIB);
        leaking.record(start + 790, passing, -512 * KIB);
    }
    // Neither the first iteration counts, nor the last: the next one could release its memory.
    assert_eq!(leaking.scene.only(RULE), (String::from("model.py(7): forward"), 0, 4));
    let found = &leaking.scene.found(RULE)[0];
    assert_eq!(
        found.detail,
        "64.0 KiB per iteration on cuda:0, in 4 iterations, mostly by aten::relu in Net_0; all origins keep 64.0 KiB"
    );
    assert_eq!(found.evidence, [10, 16, 22, 28]);
    assert!((found.confidence - 4.0 / 6.0).abs() < 1e-9);
    assert!(found.advice.contains("loss.item()"));
}

#[test]
fn memory_that_is_released_later_is_no_leak() {
    MemoryLoop::passing_on(6, 0).scene.expect_none(RULE);
    MemoryLoop::passing_on(6, 1).scene.expect_none(RULE);
    MemoryLoop::passing_on(6, 3).scene.expect_none(RULE);
    // Optimizer states and caches come once.
    let mut once = MemoryLoop::of(6);
    for number in 0..3 {
        once.allocate(number * ITERATION_US + 710, 64 * KIB);
    }
    once.scene.expect_none(RULE);
}

#[test]
fn few_iterations_tell_nothing() {
    let leaking = |num_iterations: i64| MemoryLoop::passing_on(num_iterations, 99).scene;
    leaking(3).expect_none(RULE);
    assert!(leaking(4).found(RULE)[0].confidence < leaking(12).found(RULE)[0].confidence);
}

#[test]
fn a_level_that_stays_is_no_leak() {
    // Memory from before the recording goes as fast as new memory comes.
    let mut replaced = MemoryLoop::of(6);
    replaced.allocated = 6 * 64 * KIB;
    for number in 0..6 {
        replaced.allocate(number * ITERATION_US + 20, 64 * KIB);
        replaced.record(number * ITERATION_US + 30, number + 1, -64 * KIB);
    }
    replaced.scene.expect_none(RULE);
}

#[test]
fn lost_releases_are_no_leak() {
    // The allocator's totals do not grow.
    let mut lost = MemoryLoop::of(6);
    for number in 0..6 {
        lost.allocate(number * ITERATION_US + 20, 64 * KIB);
        lost.allocated = 0;
    }
    lost.scene.expect_none(RULE);
    // Without totals, nothing can be told.
    let mut silent = MemoryLoop { has_totals: false, ..MemoryLoop::of(6) };
    for number in 0..6 {
        silent.allocate(number * ITERATION_US + 20, 64 * KIB);
    }
    silent.scene.expect_none(RULE);
    // An address that is allocated again was released.
    let mut again = MemoryLoop::of(6);
    for number in 0..6 {
        again.allocate(number * ITERATION_US + 20, 64 * KIB);
        again.record(number * ITERATION_US + 30, 16, 64 * KIB);
    }
    again.scene.expect_none(RULE);
}

#[test]
fn a_leak_that_would_take_long_is_not_told() {
    let leaking = |bytes: i64| {
        let mut all = MemoryLoop::of(6);
        all.allocate(5, 100_000 * KIB);
        for number in 0..6 {
            all.allocate(number * ITERATION_US + 20, bytes);
        }
        all.scene
    };
    leaking(512).expect_none(RULE);
    assert_eq!(leaking(128 * KIB).only(RULE).2, 4);
}

#[test]
fn releases_after_the_selected_part_count() {
    let mut late = MemoryLoop::passing_on(8, 99);
    (0..8).for_each(|number| late.record(8 * ITERATION_US + number, 8192 + 4096 * number, -64 * KIB));
    let linked = late.scene.linked();
    let part = TimeRange { start: Ts(0), end: Ts(6 * ITERATION_US * 1_000) };
    let all = findings(&Selection::within(&linked, Some(part)), MIN_SHARE);
    assert!(all.iter().all(|finding| finding.name != RULE), "{all:?}");
}
