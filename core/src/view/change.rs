//! Answers which names changed their time between two traces.

use serde_json::{Value, json};

use super::response::Response;
use super::screen::Screen;
use super::session_trace::TraceView;
use crate::analyze::{ChangedName, Selection, changed};

pub(super) fn answer(screen: &Screen<'_>) -> Response {
    let [before, after] = match screen.members() {
        [before, after, ..] => [*before, *after],
        _ => return Response::of("changes", &json!({"changes": []})),
    };
    let changes = changed([&Selection::all(&before.part().linked), &Selection::all(&after.part().linked)]);
    // Events of the trace with overloads are found by their recorded names.
    let names = |change: &ChangedName| {
        let recorded = change.overloads.iter().map(|overload| format!("{}.{overload}", change.name));
        std::iter::once(change.name.clone()).chain(recorded).collect::<Vec<_>>()
    };
    let of_name = |change: &ChangedName| {
        names(change).into_iter().map(|name| change_json([before, after], change, &name)).collect::<Vec<_>>()
    };
    let changes: Vec<_> = changes.iter().flat_map(of_name).collect();
    Response::of("changes", &json!({"changes": changes}))
}

fn change_json(parts: [TraceView<'_>; 2], change: &ChangedName, name: &str) -> Value {
    let id = |side: usize| change.longest[side].map(|id| id + i64::from(parts[side].first_id));
    json!({
        "name": name,
        "kind": change.kind,
        "status": change.status,
        "before_ns": change.ns[0],
        "after_ns": change.ns[1],
        "before_count": change.counts[0],
        "after_count": change.counts[1],
        "before": id(0),
        "after": id(1),
    })
}
