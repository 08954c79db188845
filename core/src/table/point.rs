//! Tables of instants, counters, flows and iterations.

use super::column::{Column, Table, boolean, float, int, json, put, put_name, text, uint};
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::trace::flow::FlowId;
use crate::trace::step_name::StepFacts;

/// One row a point in time.
pub(super) static INSTANTS: Table = Table {
    name: "instants",
    doc: "a point in time (`i`)",
    num_rows: |linked| linked.trace.instants.len(),
    columns: &[
        int("id", |linked, row| Some(i64::from(linked.trace.instants[row].position))),
        int("time_ns", |linked, row| Some(linked.trace.instants[row].time.0)),
        text("name", |linked, row, out| put_name(out, linked.trace.strings.text(linked.trace.instants[row].name))),
        text("category", |linked, row, out| put(out, linked.trace.strings.text(linked.trace.instants[row].category))),
        text("process", |linked, row, out| process(linked, linked.trace.instants[row].track, out)),
        text("thread", |linked, row, out| thread(linked, linked.trace.instants[row].track, out)),
        json("args", |linked, row, out| {
            linked.trace.args.write_json(&linked.trace.strings, linked.trace.instants[row].args, out)
        }),
    ],
};

/// One row a series' value.
pub(super) static COUNTERS: Table = Table {
    name: "counters",
    doc: "a series' value at a point in time (`C`)",
    num_rows: |linked| linked.trace.counters.len(),
    columns: &[
        int("id", |linked, row| Some(i64::from(linked.trace.counters[row].position))),
        int("time_ns", |linked, row| Some(linked.trace.counters[row].time.0)),
        text("name", |linked, row, out| put_name(out, linked.trace.strings.text(linked.trace.counters[row].name))),
        text("series", |linked, row, out| put(out, linked.trace.strings.text(linked.trace.counters[row].series))),
        text("process", |linked, row, out| process(linked, linked.trace.counters[row].track, out)),
        text("thread", |linked, row, out| thread(linked, linked.trace.counters[row].track, out)),
        float("value", |linked, row| Some(linked.trace.counters[row].value).filter(|value| !value.is_nan())),
        // In the first row of an element alone: they name all of its series, of which there may be
        // any number.
        json("args", |linked, row, out| {
            let counters = &linked.trace.counters;
            let is_first = row == 0 || counters[row - 1].position != counters[row].position;
            is_first && linked.trace.args.write_json(&linked.trace.strings, counters[row].args, out)
        }),
    ],
};

/// One row an end of a flow.
pub(super) static FLOWS: Table = Table {
    name: "flows",
    doc: "an end of a flow (`s`, `t`, `f`)",
    num_rows: |linked| linked.trace.flows.len(),
    columns: FLOW_COLUMNS,
};

const FLOW_COLUMNS: &[Column] = &[
    int("id", |linked, row| Some(i64::from(linked.trace.flows[row].position))),
    int("time_ns", |linked, row| Some(linked.trace.flows[row].time.0)),
    text("name", |linked, row, out| put_name(out, linked.trace.strings.text(linked.trace.flows[row].name))),
    text("category", |linked, row, out| put(out, linked.trace.strings.text(linked.trace.flows[row].category))),
    text("phase", |linked, row, out| put(out, linked.trace.flows[row].phase.letter())),
    uint("flow_id", |linked, row| match linked.trace.flows[row].id {
        FlowId::Number(id) => Some(id),
        FlowId::Text(_) => None,
    }),
    text("flow_id_text", |linked, row, out| match linked.trace.flows[row].id {
        FlowId::Number(_) => false,
        FlowId::Text(id) => put(out, linked.trace.strings.text(id)),
    }),
    text("process", |linked, row, out| process(linked, linked.trace.flows[row].track, out)),
    text("thread", |linked, row, out| thread(linked, linked.trace.flows[row].track, out)),
    json("args", |linked, row, out| {
        linked.trace.args.write_json(&linked.trace.strings, linked.trace.flows[row].args, out)
    }),
];

/// One row an iteration.
pub(super) static ITERATIONS: Table = Table {
    name: "iterations",
    doc: "an iteration (`ProfilerStep#n`), or a step of a serving engine or trainer",
    num_rows: |linked| linked.links.iterations.len(),
    columns: &[
        int("iteration", |linked, row| Some(linked.links.iterations[row].number)),
        int("start_ns", |linked, row| Some(linked.links.iterations[row].start.0)),
        int("dur_ns", |linked, row| Some(linked.links.iterations[row].dur.0)),
        int("event_id", |linked, row| Some(super::event::id(linked, linked.links.iterations[row].event))),
        boolean("is_observed", |linked, row| Some(linked.links.iterations[row].is_observed)),
        text("marker", |linked, _, out| {
            linked.links.iteration_source.taken.is_some_and(|marker| put(out, marker.name()))
        }),
        text("phase", |linked, row, out| facts(linked, row).phase.is_some_and(|phase| put(out, phase.name()))),
        uint("num_requests", |linked, row| facts(linked, row).num_requests),
        uint("num_context_requests", |linked, row| facts(linked, row).context.num_requests),
        uint("num_context_tokens", |linked, row| facts(linked, row).context.num_tokens),
        uint("num_generated_tokens", |linked, row| facts(linked, row).generation.num_tokens),
        uint("num_kv_tokens", |linked, row| facts(linked, row).num_kv_tokens()),
        text("state", |linked, row, out| {
            linked.links.iterations[row].state.is_some_and(|state| put(out, state.name()))
        }),
    ],
};

fn facts(linked: &LinkedTrace, row: usize) -> StepFacts {
    linked.links.iterations[row].facts
}

fn process(linked: &LinkedTrace, track: TrackId, out: &mut String) -> bool {
    put(out, linked.trace.strings.text(linked.trace.track(track).process))
}

fn thread(linked: &LinkedTrace, track: TrackId, out: &mut String) -> bool {
    put(out, linked.trace.strings.text(linked.trace.track(track).thread))
}
