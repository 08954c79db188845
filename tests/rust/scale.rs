//! Tests that linking time grows linearly.

use std::time::Instant;

use kinetoscope::link::LinkMethod;
use kinetoscope::time::Dur;
use kinetoscope::trace::event::EventRow;
use kinetoscope::{LinkedTrace, Trace};

use crate::nodes::Pair;

/// A trace that repeats another: its events so many times, and its nodes.
fn repeated(once: &Trace, num_events: i64, num_nodes: u64) -> Trace {
    let mut trace = once.clone();
    let span = once.range().dur().0 + 1;
    for time in 1..num_events {
        for row in 0..once.events.len() {
            let events = &once.events;
            trace.events.push(EventRow {
                position: trace.events.len() as u32,
                name: events.name.at(row),
                category: events.category.at(row),
                kind: events.kind[row],
                track: events.track.at(row),
                start: events.start.at(row).after(Dur(time * span)),
                dur: events.dur.at(row),
                args: events.args(row),
            });
        }
    }
    let step = once.nodes.iter().map(|node| node.id).max().unwrap_or(0);
    for time in 1..num_nodes {
        let moved = once.nodes.iter().map(|node| {
            let id = node.id + time * step;
            kinetoscope::trace::node::Node {
                id,
                parent: node.parent.map(|parent| parent + time * step),
                ..node.clone()
            }
        });
        trace.nodes.extend(moved);
    }
    trace
}

/// Links a repeated fixture, all of whose calls are found in that way, and says how many seconds
/// that took.
fn seconds(num_events: i64, num_nodes: u64, how: LinkMethod) -> f64 {
    let trace = repeated(&Pair::of("mlp_gloo", 0).without_ids().trace(), num_events, num_nodes);
    #[expect(clippy::disallowed_methods, reason = "what is measured is time")]
    let start = Instant::now();
    let linked = LinkedTrace::new(trace);
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(linked.links.nodes.how, Some(how));
    assert_eq!(linked.links.nodes.node_of_event.num_set() as u64, 603 * num_nodes.min(num_events as u64));
    seconds
}

#[test]
fn linking_by_names_takes_as_much_longer_as_there_is_more() {
    let few = seconds(4, 4, LinkMethod::Sequence).max(0.01);
    let many = seconds(40, 40, LinkMethod::Sequence);
    assert!(many < 40.0 * few, "{few} s, then {many} s");
}

#[test]
fn a_window_is_found_in_time_that_grows_with_the_length() {
    let few = seconds(4, 1, LinkMethod::Window).max(0.01);
    let many = seconds(40, 1, LinkMethod::Window);
    assert!(many < 40.0 * few, "{few} s, then {many} s");
    assert!(seconds(40, 30, LinkMethod::Window) < 40.0 * many.max(0.1));
}
