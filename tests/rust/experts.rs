//! Tests exchanges of a mixture of experts: rows of each rank, directions and imbalance.

use kinetoscope::analyze::RankedTrace;
use proptest::prelude::*;
use serde_json::json;

use crate::exchanges::{Record, traced};
use crate::job::{asked, rows};
use crate::worker;

/// Elements of a row.
const WIDTH: i64 = 8;

/// Rows that each rank sends to each.
type Routing = [[i64; 4]; 4];

/// Rank 1 receives 4 · 30 of 4 · 60 rows: twice the mean.
const FIRST: Routing = [[10, 30, 12, 8], [8, 30, 10, 12], [12, 30, 8, 10], [10, 30, 10, 10]];

/// Rank 3 receives 4 · 45 of 4 · 60 rows: three times the mean.
const SECOND: Routing = [[5, 5, 5, 45], [4, 6, 5, 45], [6, 4, 5, 45], [5, 5, 5, 45]];

fn sent(routing: &Routing, rank: usize) -> Vec<i64> {
    routing[rank].to_vec()
}

fn received(routing: &Routing, rank: usize) -> Vec<i64> {
    routing.iter().map(|row| row[rank]).collect()
}

fn exchange(rank: usize, at: usize, sides: &[Vec<i64>; 2], text: fn(&[i64]) -> String) -> Record {
    Record {
        collective: "all_to_allv",
        group: "experts",
        ranks: json!([0, 1, 2, 3]),
        seq: at as i64,
        // The last rank comes 2 µs late.
        start: 100 * (at as i64 + 1) + rank as i64 / 3 * 2,
        dur: 12 - rank as i64 / 3 * 2,
        elems: [0, 1].map(|side: usize| sides[side].iter().sum::<i64>() * WIDTH),
        splits: [0, 1].map(|side: usize| text(&sides[side])),
        module: None,
    }
}

fn whole(rows: &[i64]) -> String {
    json!(rows).to_string()
}

/// Four ranks that dispatch and combine in each layer.
fn job(layers: &[Routing], text: fn(&[i64]) -> String, modules: &[&'static str]) -> Vec<RankedTrace> {
    let rank = |rank: usize| {
        let mut records = Vec::new();
        for (layer, routing) in layers.iter().enumerate() {
            let sides = [sent(routing, rank), received(routing, rank)];
            let back = [sides[1].clone(), sides[0].clone()];
            for (half, sides) in [sides, back].into_iter().enumerate() {
                let module = modules.get(layer).copied();
                records.push(Record { module, ..exchange(rank, 2 * layer + half, &sides, text) });
            }
        }
        traced(rank as i64, &json!({}), &records)
    };
    (0..4).map(rank).collect()
}

const LAYER: &[&str] = &[
    "position",
    "direction",
    "num_calls",
    "num_ranks",
    "received_rows",
    "max_rows",
    "mean_rows",
    "imbalance",
    "busiest_rank",
];

#[test]
fn two_layers_have_the_imbalance_of_their_routing() {
    let traces = job(&[FIRST, SECOND], whole, &[]);
    let answer = asked("experts", &traces, &json!({}));
    // All ranks send 60 rows, so nothing is uneven after the way back.
    let expected = json!([
        [0, "dispatch", 1, 4, 240, 120, 60.0, 2.0, 1],
        [1, "combine", 1, 4, 240, 60, 60.0, 1.0, null],
        [2, "dispatch", 1, 4, 240, 180, 60.0, 3.0, 3],
        [3, "combine", 1, 4, 240, 60, 60.0, 1.0, null],
    ]);
    assert_eq!(json!(rows(&answer, "experts", LAYER)), expected);
    let bytes = 240 * WIDTH * 4;
    let costs = rows(&answer, "experts", &["bytes", "wait_ns", "group_size", "reason"]);
    assert_eq!(json!(costs), json!(vec![json!([bytes, 6_000, 4, null]); 4]));
    let columns = ["position", "rank", "sent_rows", "received_rows", "sent_bytes", "received_bytes", "share"];
    let ranks = rows(&answer, "expert_ranks", &columns);
    assert_eq!((ranks.len(), json!(ranks[1])), (16, json!([0, 1, 60, 120, 60 * 32, 120 * 32, 0.5])));
    assert_eq!(json!(ranks[5]), json!([1, 1, 120, 60, 120 * 32, 60 * 32, 0.25]));
    worker::assert_alike(&traces, &json!({}));
}

#[test]
fn modules_name_layers_and_join_their_calls() {
    let traces = job(&[FIRST, FIRST, SECOND], whole, &["MoE_0", "MoE_0", "MoE_1"]);
    let found =
        rows(&asked("experts", &traces, &json!({})), "experts", &["module", "position", "direction", "num_calls"]);
    let expected = json!([
        ["MoE_0", null, "dispatch", 2],
        ["MoE_0", null, "combine", 2],
        ["MoE_1", null, "dispatch", 1],
        ["MoE_1", null, "combine", 1],
    ]);
    assert_eq!(json!(found), expected);
    worker::assert_alike(&traces, &json!({}));
}

#[test]
fn even_exchanges_are_none_of_experts() {
    let even = job(&[[[15; 4]; 4]], whole, &[]);
    let answer = asked("experts", &even, &json!({}));
    assert_eq!((answer.tables[0].num_rows(), answer.tables[1].num_rows()), (0, 0));
    assert_eq!(answer.reason.as_deref(), Some("no uneven all-to-all with recorded splits"));
    let unsplit = job(&[FIRST], |_| "[]".into(), &[]);
    assert_eq!(asked("experts", &unsplit, &json!({})).tables[0].num_rows(), 0);
}

#[test]
fn cut_lists_leave_rows_unknown_and_bytes_tell_the_imbalance() {
    let cut = |rows: &[i64]| format!("[{}, {}, ...]", rows[0], rows[1]);
    let answer = asked("experts", &job(&[FIRST], cut, &[]), &json!({}));
    let columns = ["direction", "received_rows", "max_rows", "imbalance", "busiest_rank", "bytes", "reason"];
    let expected = json!(["dispatch", null, null, 2.0, 1, 240 * 32, "the recorder cut the list of splits"]);
    assert_eq!(json!(rows(&answer, "experts", &columns)[0]), expected);
    let ranks = rows(&answer, "expert_ranks", &["sent_rows", "received_rows", "received_bytes", "share"]);
    assert_eq!(json!(ranks[1]), json!([null, null, 120 * 32, 0.5]));
}

#[test]
fn a_whole_list_tells_the_length_of_rows_for_cut_ones() {
    // One rank lists all that it sends; rows are equally long on all ranks.
    let cut = |rows: &[i64]| format!("[{}, {}, ...]", rows[0], rows[1]);
    let traces: Vec<_> = (0..4)
        .map(|rank| {
            let mut record = exchange(rank, 0, &[sent(&FIRST, rank), received(&FIRST, rank)], cut);
            if rank == 2 {
                record.splits[0] = whole(&sent(&FIRST, rank));
            }
            traced(rank as i64, &json!({}), &[record])
        })
        .collect();
    let found = rows(&asked("experts", &traces, &json!({})), "experts", &["received_rows", "max_rows", "reason"]);
    assert_eq!(json!(found), json!([[240, 120, null]]));
}

#[test]
fn ranks_without_a_trace_are_told() {
    let traces = job(&[FIRST], whole, &[]);
    let found = rows(&asked("experts", &traces[..3], &json!({})), "experts", &["num_ranks", "received_rows", "reason"]);
    let reason = "some ranks of the group have no trace";
    assert_eq!(json!(found), json!([[3, 200, reason], [3, 180, reason]]));
}

#[test]
fn a_lone_exchange_has_no_direction() {
    let routing = |rank: usize| -> Vec<i64> { (0..4).map(|to| if to == rank { 40_000 } else { 1_000 }).collect() };
    let alone = |rank: usize| exchange(rank, 0, &[routing(rank), routing(rank)], whole);
    let traces: Vec<_> = (0..4).map(|rank| traced(rank as i64, &json!({}), &[alone(rank)])).collect();
    let found = rows(&asked("experts", &traces, &json!({})), "experts", LAYER);
    assert_eq!(json!(found), json!([[0, null, 1, 4, 172_000, 43_000, 43_000.0, 1.0, null]]));
}

proptest! {
    #[test]
    fn hostile_splits_do_not_panic(
        splits in prop::collection::vec("(\\[(-?[0-9]{1,20}(, )?){0,4}(\\.\\.\\.)?\\]|.{0,9})", 4),
        elems in prop::collection::vec(prop::num::i64::ANY, 4),
    ) {
        let rank = |rank: usize| {
            let record = |at: usize| Record {
                elems: [elems[at + rank], elems[3 - at]],
                splits: [splits[at + rank].clone(), splits[3 - at].clone()],
                ..exchange(rank, at, &[vec![1], vec![1]], whole)
            };
            traced(rank as i64, &json!({}), &[record(0), record(1), record(2)])
        };
        let traces = [rank(0), rank(1)];
        let answer = asked("experts", &traces, &json!({}));
        for row in rows(&answer, "expert_ranks", &["sent_rows", "received_rows", "sent_bytes", "received_bytes"]) {
            prop_assert!(row.iter().all(|value| value.as_i64().is_none_or(|value| value >= 0)), "{:?}", row);
        }
        prop_assert!(rows(&answer, "experts", &["imbalance"]).iter().all(|row| row[0].as_f64().is_none_or(|ratio| ratio > 0.99)));
    }
}
