//! Answers which names changed their time between two traces.

use serde_json::{Value, json};

use super::response::Response;
use super::screen::Screen;
use super::session_trace::TraceView;
use crate::analyze::{ChangedName, Selection, changed};

pub(super) fn answer(screen: &Screen<'_>) -> Response {
    let [before, after] = match &screen.parts[..] {
        [before, after, ..] => [*before, *after],
        _ => return Response::of("changes", &json!({"changes": []})),
    };
    let changes = changed([&Selection::all(&before.part().linked), &Selection::all(&after.part().linked)]);
    let changes: Vec<_> = changes.iter().map(|change| change_json([before, after], change)).collect();
    Response::of("changes", &json!({"changes": changes}))
}

fn change_json(parts: [TraceView<'_>; 2], change: &ChangedName) -> Value {
    let id = |side: usize| change.longest[side].map(|id| id + i64::from(parts[side].first_id));
    json!({
        "name": change.name,
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
