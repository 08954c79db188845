//! Answers the details of an event.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::context::context;
use super::counterpart::counterpart;
use super::gap::idle_before;
use super::launched::launched;
use super::reference::{inside, reference};
use super::request::NeighbourDirection;
use super::response::Response;
use super::screen::Screen;
use super::session_trace::TraceView;
use super::siblings::siblings;
use crate::analyze::why_unlaunched;
use crate::id::TrackId;
use crate::link::EdgeKind;
use crate::time::Dur;
use crate::trace::args::plain_text;
use crate::trace::node::NodeValues;

/// How many links of an event are listed.
const MAX_LISTED: usize = 100;

/// The event at a point of a lane.
pub(super) fn at(screen: &Screen<'_>, (track, lane): (u32, u32), time: f64, tolerance: f64) -> Response {
    let found = screen.track(track).and_then(|(part, track)| {
        let places = part.lanes().lane(track, lane as usize);
        let row = part.lanes().at(&part.linked, places, part.time(time), Dur(tolerance.max(0.0) as i64));
        row.map(|row| reference(part, row))
    });
    Response::of("at", &json!({"event": found}))
}

/// All that is known about an event.
pub(super) fn details(screen: &Screen<'_>, part: TraceView<'_>, row: usize) -> Response {
    let (trace, links) = (&part.linked.trace, &part.linked.links);
    let events = &trace.events;
    let args: Vec<_> = trace.args.pairs(&trace.strings, events.args(row)).collect();
    let optional = |row: Option<u32>| row.map(|row| reference(part, row as usize));
    let annotation = part.linked.frames().annotation.get(row);
    // Without an operator around it, an event belongs to an annotation, which is marked as such.
    let operator = links.operator.get(row).filter(|operator| annotation != Some(*operator));
    let mut data = reference(part, row);
    let more = json!({
        "part": part.at,
        "is_shown": part.is_shown(row),
        "category": trace.strings.text(events.category.at(row)),
        "start_ns": events.start.at(row).0.to_string(),
        "dur_ns": events.dur.at(row).0.to_string(),
        "self_ns": part.linked.self_ns(row).to_string(),
        "device_ns": part.linked.known_device_ns(row).map(|ns| ns.to_string()),
        "recorded_dur_ns": events.impossible_dur(row).map(|dur| dur.0.to_string()),
        "iteration": part.linked.iteration_number(row),
        "args": args,
        "owners": owners(part, row),
        "num_children": num_children(part, row),
        "launch": optional(links.launch.get(row)),
        "unlaunched": why_unlaunched(&part.linked, row),
        "idle_before": idle_before(part, row),
        "operator": optional(operator),
        "node": node(part, row),
        "counterpart": counterpart(screen, part, row),
    });
    for more in [more, launched(part, row), context(part, row)] {
        if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
            data.extend(more);
        }
    }
    Response::of("event", &data)
}

/// Everything around an event, innermost first: on its track, or for device work from its launch
/// outwards.
fn owners(part: TraceView<'_>, row: usize) -> Vec<Value> {
    let links = &part.linked.links;
    let first = links.launch.get(row).or_else(|| links.nesting.parent.get(row));
    let chain = std::iter::successors(first, |row| links.nesting.parent.get(*row as usize));
    chain.map(|row| reference(part, row as usize)).collect()
}

/// The innermost event around it that is on the screen.
fn shown_parent(part: TraceView<'_>, row: usize) -> Option<usize> {
    let parent = |row: usize| part.linked.links.nesting.parent.get(row).map(|parent| parent as usize);
    std::iter::successors(parent(row), |row| parent(*row)).find(|row| part.is_shown(*row))
}

fn num_children(part: TraceView<'_>, row: usize) -> usize {
    let parents = &part.linked.links.nesting.parent;
    inside(part, row).filter(|other| parents.get(*other) == Some(row as u32)).count()
}

/// The node of the event, or of the operator that owns it.
fn node(part: TraceView<'_>, row: usize) -> Option<Value> {
    let (trace, links) = (&part.linked.trace, &part.linked.links);
    let own = |row: u32| Some((row, links.nodes.find(row as usize)?.0));
    let (event, node) = own(row as u32).or_else(|| links.operator.get(row).and_then(own))?;
    let node = &trace.nodes[node as usize];
    Some(json!({
        "event": reference(part, event as usize),
        "node_id": node.id,
        "name": trace.strings.text(node.name),
        "schema": trace.strings.text(node.schema),
        "inputs": values(part, &node.inputs),
        "outputs": values(part, &node.outputs),
        "attrs": trace.strings.text(node.rest),
    }))
}

fn values(part: TraceView<'_>, values: &NodeValues) -> Vec<Value> {
    let strings = &part.linked.trace.strings;
    let [values, shapes, types, strides] =
        [values.values, values.shapes, values.types, values.strides].map(|id| elements(strings.text(id)));
    let text = |list: &[&RawValue], at: usize| list.get(at).map_or_else(String::new, |raw| plain_text(raw.get()));
    let row = |(at, value): (usize, &&RawValue)| {
        json!({
            "type": text(&types, at),
            "shape": text(&shapes, at),
            "stride": text(&strides, at),
            "value": value.get(),
        })
    };
    values.iter().enumerate().map(row).collect()
}

/// The elements of a JSON array, as they are written.
fn elements(json: &str) -> Vec<&RawValue> {
    serde_json::from_str(json).unwrap_or_default()
}

/// Links from and to an event.
pub(super) fn links(screen: &Screen<'_>, part: TraceView<'_>, row: usize) -> Response {
    let edges = part.linked.edges_of(row);
    let edge = |edge: &crate::link::Edge| {
        json!({
            "kind": edge.kind.name(),
            "how": edge.how.name(),
            "confidence": edge.confidence,
            "source": reference(part, edge.source as usize),
            "target": reference(part, edge.target as usize),
        })
    };
    let between_events = edges.iter().filter(|edge| edge.kind != EdgeKind::Node).map(edge);
    let others = siblings(screen, part, row);
    let count = edges.len() + others.len();
    let links: Vec<_> = between_events.chain(others).take(MAX_LISTED).collect();
    Response::of("links", &json!({"links": links, "count": count}))
}

/// Where a step from an event leads.
pub(super) fn neighbour(part: TraceView<'_>, row: usize, direction: NeighbourDirection) -> Response {
    let events = &part.linked.trace.events;
    let TrackId(track) = events.track.at(row);
    let places = part.lanes().lane(track as usize, part.lane(row) as usize);
    let here = part.lanes().first(places.clone(), |other| events.start.at(other) >= events.start.at(row));
    let place = |at: usize| places.contains(&at).then(|| part.lanes().row(at));
    let found = match direction {
        NeighbourDirection::Next => place(here + 1),
        NeighbourDirection::Previous => here.checked_sub(1).and_then(place),
        NeighbourDirection::Parent => shown_parent(part, row),
        NeighbourDirection::Child => {
            let mut inside = inside(part, row).filter(|other| part.is_shown(*other));
            inside.find(|other| shown_parent(part, *other) == Some(row))
        }
    };
    Response::of("neighbour", &json!({"event": found.map(|row| reference(part, row))}))
}
