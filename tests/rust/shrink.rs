//! Tests shrinking a trace.

use kinetoscope::edit::shrink;
use kinetoscope::link::EdgeKind;
use kinetoscope::{EventKind, LinkedTrace, WarningKind, write_snapshot};

use crate::{files, shared};

fn size(trace: &kinetoscope::Trace) -> usize {
    write_snapshot(trace).unwrap().len()
}

fn shrunk(linked: &LinkedTrace, max_bytes: usize) -> Option<LinkedTrace> {
    shrink(linked, &mut |trace| size(trace) <= max_bytes).ok().map(LinkedTrace::new)
}

fn assert_thins(name: &str, linked: &LinkedTrace) {
    let whole = size(&linked.trace);
    let mut last = linked.trace.events.len() + 1;
    for percent in [100, 90, 70, 50, 30, 20, 10] {
        let Some(part) = shrunk(linked, whole * percent / 100) else { continue };
        assert!(size(&part.trace) <= whole * percent / 100, "{name} {percent}");
        let trace = &part.trace;
        assert!(trace.events.len() <= last, "{name} {percent}: a smaller one has more in it");
        last = trace.events.len();
        let count = |kind| trace.warnings.count(kind) as usize;
        let gone = count(WarningKind::ShrunkFrame) + count(WarningKind::ShrunkEvent);
        assert_eq!(trace.events.len() + gone, linked.trace.events.len(), "{name} {percent}");
        assert_eq!(trace.flows.len() + count(WarningKind::ShrunkFlow), linked.trace.flows.len(), "{name} {percent}");
        assert_eq!(trace.instants.len() + count(WarningKind::ShrunkInstant), linked.trace.instants.len());
        assert_eq!(trace.nodes.len() + count(WarningKind::ShrunkNode), linked.trace.nodes.len());
        assert_eq!(trace.range(), linked.trace.range(), "{name} {percent}: what is left lasts as long");
        assert_work_stays(&format!("{name} {percent}"), linked, &part);
    }
}

/// All device work is there, under the same ids, with the same launches and operators.
fn assert_work_stays(name: &str, linked: &LinkedTrace, part: &LinkedTrace) {
    let of = |linked: &LinkedTrace| {
        let id = |row: Option<u32>| row.map(|row| linked.trace.events.position.at(row as usize));
        let work = (0..linked.trace.events.len()).filter(|row| linked.trace.events.kind[*row].is_device_work());
        let row = |row| {
            (linked.trace.events.position.at(row), id(linked.links.launch.get(row)), id(linked.links.operator.get(row)))
        };
        work.map(row).collect::<Vec<_>>()
    };
    assert_eq!(of(part), of(linked), "{name}");
    let launches =
        |linked: &LinkedTrace| linked.edge_list().iter().filter(|edge| edge.kind == EdgeKind::Launch).count();
    assert_eq!(launches(part), launches(linked), "{name}");
}

#[test]
fn device_work_stays_and_all_else_is_counted() {
    for folder in ["synthetic_cuda", "transformer_cpu", "mlp_gloo"] {
        assert_thins(folder, &files::pair(folder));
    }
    for name in
        ["AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz", "HazyResearch__zoology/trace.json"]
    {
        shared::trace(name).into_iter().for_each(|trace| assert_thins(name, &LinkedTrace::new(trace)));
    }
}

#[test]
fn what_fits_is_as_it_was() {
    let linked = files::pair("synthetic_cuda");
    let same = shrink(&linked, &mut |_| true).unwrap();
    assert_eq!(same.events, linked.trace.events);
    assert_eq!(same.header, linked.trace.header);
    assert!(shrink(&linked, &mut |_| false).is_err());
}

#[test]
fn functions_in_which_nothing_ran_go_first() {
    let event = |kind: &str, name: &str, ts: i64, dur: i64| {
        format!(r#"{{"ph": "X", "cat": "{kind}", "name": "{name}", "pid": 1, "tid": 1, "ts": {ts}, "dur": {dur}}}"#)
    };
    let events = [
        event("python_function", "step", 0, 100),
        event("python_function", "log", 1, 5),
        event("python_function", "inner log", 2, 1),
        event("cpu_op", "aten::add", 10, 5),
    ];
    let linked = LinkedTrace::new(files::trace(&format!("[{}]", events.join(","))));
    let mut num_asked = 0;
    let part = shrink(&linked, &mut |trace| {
        num_asked += 1;
        trace.events.len() < 4
    });
    let part = part.unwrap();
    assert!(part.events.position.iter().eq([0, 3]));
    assert!(part.events.has(EventKind::Python));
    assert_eq!(num_asked, 2);
    assert!(part.metadata_json().contains(r#"{"edit":"shrink","left_out":{"shrunk_frame":2}}"#));
}

#[test]
fn texts_that_only_arguments_had_go_with_them() {
    let event = |at: usize| {
        format!(
            r#"{{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": {at}, "dur": 1, "args": {{"note": "{at} {}"}}}}"#,
            "x".repeat(200)
        )
    };
    let events: Vec<_> = (0..50).map(event).collect();
    let linked = LinkedTrace::new(files::trace(&format!("[{}]", events.join(","))));
    let part = shrink(&linked, &mut |trace| trace.warnings.count(WarningKind::ShrunkArguments) > 0).unwrap();
    assert_eq!(part.events.len(), 50);
    assert!(part.strings.iter().all(|text| !text.contains("xxx")));
}
