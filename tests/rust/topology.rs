//! Tests process groups of a job, waits between pairs of ranks, and maps by machine or group.

use kinetoscope::analyze::RankedTrace;
use kinetoscope::view::chart;
use serde_json::{Value, json};

use crate::exchanges::{Record, traced};
use crate::job::{asked, rows};
use crate::worker;

/// Eight ranks on two machines. Ranks of a machine are the group `mesh_tp`, ranks at the same place
/// of both the group `mesh_dp`. Rank 5 comes 20 µs late to the first all-reduce of its machine.
fn job() -> Vec<RankedTrace> {
    (0..8).map(rank_of).collect()
}

fn rank_of(rank: i64) -> RankedTrace {
    let machine = rank / 4;
    let near: Vec<i64> = (machine * 4..machine * 4 + 4).collect();
    let far = vec![rank % 4, rank % 4 + 4];
    let name = |kind: &str, number: i64| -> &'static str { format!("{kind}{number}").leak() };
    let (near_name, far_name) = (name("near", machine), name("far", rank % 4));
    let late = if rank == 5 { 20 } else { 0 };
    let record = |group: &'static str, ranks: &[i64], seq, start, dur| Record {
        collective: "allreduce",
        group,
        ranks: json!(ranks),
        seq,
        start,
        dur,
        elems: [1_000, 1_000],
        splits: ["[]".into(), "[]".into()],
        module: None,
    };
    let records = [record(near_name, &near, 1, 100 + late, 40 - late), record(far_name, &far, 1, 300, 40)];
    let group = |name: &str, desc: &str, ranks: &[i64]| json!({"pg_name": name, "pg_desc": desc, "ranks": ranks, "pg_size": ranks.len()});
    let groups = [group(near_name, "mesh_tp", &near), group(far_name, "mesh_dp", &far)];
    let header = json!({
        "distributedInfo": {"rank": rank, "world_size": 8, "pg_config": groups},
        "traceName": format!("log/node{machine}_100.1698954910154219890.pt.trace.json"),
    });
    traced(rank, &header, &records)
}

#[test]
fn groups_tell_their_machines_and_the_rank_that_others_await() {
    let job = job();
    let columns = ["group_desc", "group_name", "ranks", "reach", "count", "wait_ns", "awaited_rank", "awaited_ns"];
    let found = rows(&asked("topology", &job, &json!({})), "topology", &columns);
    let far = |number: i64| {
        let ranks = format!("[{number},{}]", number + 4);
        json!(["mesh_dp", format!("far{number}"), ranks, "between", 1, 0, null, null])
    };
    let expected = json!([
        ["mesh_tp", "near1", "[4,5,6,7]", "inside", 1, 60_000, 5, 60_000],
        far(0),
        far(1),
        far(2),
        far(3),
        ["mesh_tp", "near0", "[0,1,2,3]", "inside", 1, 0, null, null],
    ]);
    assert_eq!(json!(found), expected);
    worker::assert_alike(&job, &json!({}));
}

#[test]
fn pairs_tell_who_waits_for_whom() {
    let columns = ["rank", "awaited_rank", "count", "wait_ns", "max_wait_ns"];
    let found = rows(&asked("topology", &job(), &json!({})), "waiting_pairs", &columns);
    assert_eq!(json!(found), json!([[4, 5, 1, 20_000, 20_000], [6, 5, 1, 20_000, 20_000], [7, 5, 1, 20_000, 20_000]]));
}

#[test]
fn each_rank_has_a_place_in_each_division() {
    let answer = asked("topology", &job(), &json!({}));
    let found = rows(&answer, "rank_places", &["rank", "division", "number", "name"]);
    assert_eq!(found.len(), 3 * 8);
    assert_eq!(json!(found[5]), json!([5, "machine", 1, "machine 1 (node1)"]));
    assert_eq!(json!(found[8 + 5]), json!([5, "mesh_dp", 1, "ranks 1, 5"]));
    assert_eq!(json!(found[16 + 5]), json!([5, "mesh_tp", 1, "ranks 4 to 7"]));
    let places = answer.tables.iter().find(|table| table.name() == "rank_places").unwrap();
    let picture = chart(&**places, answer.plot, None);
    assert!(picture.contains("<title>ranks 4 to 7: machine 1 (node1)</title>"), "{picture}");
    assert!(picture.contains("<title>rank 5: ranks 1, 5</title>"), "{picture}");
    assert!(picture.contains("4 of 2 ranks") && picture.contains("2 of 4 ranks"), "{picture}");
}

#[test]
fn maps_by_machine_name_the_slowest_rank() {
    let job = job();
    let by = |by: &str| asked("grouped_heatmap", &job, &json!({"group": by}));
    let columns =
        ["number", "name", "iteration", "num_traces", "dur_ns", "device_busy_ns", "wait_ns", "caused_wait_ns"];
    let found = rows(&by("machine"), "grouped_heatmap", &columns);
    let expected = json!([
        [0, "machine 0 (node0)", 1, 4, 100_000_000, 80_000, 0, 0],
        [1, "machine 1 (node1)", 1, 4, 100_000_000, 75_000, 60_000, 60_000],
    ]);
    assert_eq!(json!(found), expected);
    let found = rows(&by("mesh_dp"), "grouped_heatmap", &["name", "caused_wait_ns"]);
    let expected = json!([["ranks 0, 4", 0], ["ranks 1, 5", 60_000], ["ranks 2, 6", 0], ["ranks 3, 7", 0]]);
    assert_eq!(json!(found), expected);
    let answer = by("machine");
    let picture = chart(&*answer.tables[0], answer.plot, answer.reason.as_deref());
    assert!(picture.contains("60 µs at machine 1 (node1), iteration 1"), "{picture}");
    worker::assert_alike(&job, &json!({"group": "machine"}));
}

#[test]
fn unknown_divisions_say_what_is_there() {
    let answer = asked("grouped_heatmap", &job(), &json!({"group": "mesh_pp"}));
    let reason = r#"no process group has the description "mesh_pp"; the descriptions are {"mesh_dp", "mesh_tp"}"#;
    assert_eq!(answer.reason.as_deref(), Some(reason));
    let alone: Vec<RankedTrace> = vec![traced(0, &json!({}), &[])];
    let answer = asked("grouped_heatmap", &alone, &json!({"group": "machine"}));
    assert_eq!(answer.reason.as_deref(), Some("the machines of the ranks are unknown"));
    let answer = asked("grouped_heatmap", &alone, &json!({"group": "tp"}));
    let reason = r#"no process group has the description "tp"; none has any"#;
    assert_eq!(answer.reason.as_deref(), Some(reason));
    let empty: Value = json!(rows(&asked("topology", &alone, &json!({})), "topology", &["group_name"]));
    assert_eq!(empty, json!([]));
}

#[test]
fn groups_of_any_claimed_size_take_no_memory() {
    let group = json!({"pg_name": "0", "pg_desc": "default_pg", "ranks": [], "pg_size": i64::MAX});
    let header = json!({"distributedInfo": {"rank": 0, "world_size": i64::MAX, "pg_config": [group]}});
    let record = Record {
        collective: "allreduce",
        group: "0",
        ranks: json!([]),
        seq: 1,
        start: 100,
        dur: 40,
        elems: [1, 1],
        splits: ["[]".into(), "[]".into()],
        module: None,
    };
    let alone = [traced(0, &header, &[record])];
    let answer = asked("topology", &alone, &json!({}));
    let found = rows(&answer, "topology", &["group_desc", "group_size", "ranks"]);
    assert_eq!(json!(found), json!([["default_pg", i64::MAX, null]]));
    let places = rows(&answer, "rank_places", &["rank", "name"]);
    assert_eq!(json!(places), json!([[0, format!("ranks 0 to {}", i64::MAX - 1)]]));
}

#[test]
fn ranks_without_room_are_counted() {
    let far = [0, 1, i64::MAX].map(|rank| {
        let group = json!({"pg_name": "0", "pg_desc": "dp", "ranks": [0, 1, i64::MAX], "pg_size": 3});
        traced(rank, &json!({"distributedInfo": {"rank": rank, "world_size": 3, "pg_config": [group]}}), &[])
    });
    let answer = asked("topology", &far, &json!({}));
    let places = answer.tables.iter().find(|table| table.name() == "rank_places").unwrap();
    let picture = chart(&**places, answer.plot, None);
    assert!(picture.contains("ranks from 2560 on are left out: 1"), "{picture}");
}
