//! Everything about one event.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Session;
use super::request::Direction;
use super::response::Response;
use crate::id::TrackId;
use crate::link::EdgeKind;
use crate::time::Dur;
use crate::trace::args::plain_text;
use crate::trace::node::Values;

/// How many device events of a launch are listed.
const MAX_LISTED: usize = 100;

/// The event at a point of a lane.
pub(super) fn at(session: &Session, (track, lane): (u32, u32), time: f64, tolerance: f64) -> Response {
    let places = session.lanes().lane(track as usize, lane as usize);
    let tolerance = Dur(tolerance.max(0.0) as i64);
    let row = session.lanes().at(&session.linked, places, session.time(time), tolerance);
    Response::of("at", &json!({"event": row.map(|row| reference(session, row))}))
}

/// All that is known about an event.
pub(super) fn details(session: &Session, row: usize) -> Response {
    let (trace, links) = (&session.linked.trace, &session.linked.links);
    let events = &trace.events;
    let devices = links.launched.of(row);
    let num_device_events = devices.len();
    let listed: Vec<_> = devices.take(MAX_LISTED).map(|row| reference(session, row)).collect();
    let args: Vec<_> = trace.args.pairs(&trace.strings, events.args(row)).collect();
    let optional = |row: Option<u32>| row.map(|row| reference(session, row as usize));
    let mut data = reference(session, row);
    let more = json!({
        "category": trace.strings.text(events.category[row]),
        "start_ns": events.start[row].0.to_string(),
        "dur_ns": events.dur[row].0.to_string(),
        "self_ns": session.linked.self_ns(row).to_string(),
        "device_ns": session.linked.device_time().total_ns[row].to_string(),
        "iteration": links.iteration.get(row).map(|at| links.iterations[at as usize].number),
        "args": args,
        "owners": owners(session, row),
        "num_children": num_children(session, row),
        "launch": optional(links.launch.get(row)),
        "device_events": listed,
        "num_device_events": num_device_events,
        "operator": optional(links.operator.get(row)),
        "node": node(session, row),
    });
    if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    Response::of("event", &data)
}

/// An event in short.
pub(super) fn reference(session: &Session, row: usize) -> Value {
    let events = &session.linked.trace.events;
    json!({
        "id": events.position[row],
        "name": session.linked.trace.event_name(row),
        "kind": events.kind[row].name(),
        "track": events.track[row].0,
        "lane": session.linked.lanes()[row],
        "start": session.offset(events.start[row]),
        "dur": events.dur[row].0 as f64,
    })
}

/// What the event is inside of, innermost first: on its own track, or for device work from its launch outwards.
fn owners(session: &Session, row: usize) -> Vec<Value> {
    let links = &session.linked.links;
    let first = links.launch.get(row).or_else(|| links.nesting.parent.get(row));
    let chain = std::iter::successors(first, |row| links.nesting.parent.get(*row as usize));
    chain.map(|row| reference(session, row as usize)).collect()
}

/// Events of the same track whose parent is this one.
fn children(session: &Session, row: usize) -> impl Iterator<Item = usize> + '_ {
    let (events, nesting) = (&session.linked.trace.events, &session.linked.links.nesting);
    let rows = nesting.track_rows(events.track[row]);
    let first = rows.partition_point(|other| events.start[*other as usize] < events.start[row]);
    let end = events.end(row);
    let inside = rows[first..].iter().map(|row| *row as usize).take_while(move |other| events.start[*other] <= end);
    inside.filter(move |other| nesting.parent.get(*other) == Some(row as u32))
}

fn num_children(session: &Session, row: usize) -> usize {
    children(session, row).count()
}

/// The node of the event, or of the operator that owns it.
fn node(session: &Session, row: usize) -> Option<Value> {
    let (trace, links) = (&session.linked.trace, &session.linked.links);
    let own = |row: u32| Some((row, links.nodes.node_of_event.get(row as usize)?));
    let (event, node) = own(row as u32).or_else(|| links.operator.get(row).and_then(own))?;
    let node = &trace.nodes[node as usize];
    Some(json!({
        "event": reference(session, event as usize),
        "node_id": node.id,
        "name": trace.strings.text(node.name),
        "schema": trace.strings.text(node.schema),
        "inputs": values(session, &node.inputs),
        "outputs": values(session, &node.outputs),
        "attrs": trace.strings.text(node.rest),
    }))
}

fn values(session: &Session, values: &Values) -> Vec<Value> {
    let strings = &session.linked.trace.strings;
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
pub(super) fn links(session: &Session, row: usize) -> Response {
    let edges = session.linked.edges_of(row);
    let edge = |edge: &crate::link::Edge| {
        json!({
            "kind": edge.kind.name(),
            "how": edge.how.name(),
            "confidence": edge.confidence,
            "source": reference(session, edge.source as usize),
            "target": reference(session, edge.target as usize),
        })
    };
    let between_events = edges.iter().filter(|edge| edge.kind != EdgeKind::Node).take(MAX_LISTED);
    Response::of("links", &json!({"links": between_events.map(edge).collect::<Vec<_>>(), "count": edges.len()}))
}

/// Where a step from an event leads.
pub(super) fn neighbour(session: &Session, row: usize, direction: Direction) -> Response {
    let (events, nesting) = (&session.linked.trace.events, &session.linked.links.nesting);
    let TrackId(track) = events.track[row];
    let places = session.lanes().lane(track as usize, session.linked.lanes()[row] as usize);
    let here = session.lanes().first(places.clone(), |other| events.start[other] >= events.start[row]);
    let place = |at: usize| places.contains(&at).then(|| session.lanes().row(at));
    let found = match direction {
        Direction::Next => place(here + 1),
        Direction::Previous => here.checked_sub(1).and_then(place),
        Direction::Parent => nesting.parent.get(row).map(|parent| parent as usize),
        Direction::Child => children(session, row).next(),
    };
    Response::of("neighbour", &json!({"event": found.map(|row| reference(session, row))}))
}
