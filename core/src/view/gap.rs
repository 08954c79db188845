//! Answers why a stream is idle at a moment.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::reference::reference;
use super::response::Response;
use super::screen::Screen;
use super::session_trace::TraceView;
use crate::analyze::{IdleCause, Selection, StreamPause, ThreadActivity, pause_at};
use crate::id::{StrId, TrackId};
use crate::sort;
use crate::time::{Ts, sum_ns};

/// The number of listed host activities.
const MAX_LISTED: usize = 8;

pub(super) fn answer(screen: &Screen<'_>, track: u32, time: f64) -> Response {
    let found = screen.track(track).and_then(|(part, track)| pause(part, track, part.time(time)));
    Response::of("gap", &json!({"gap": found}))
}

/// The idle time of the stream right before device work; null without any, and for other events.
pub(super) fn idle_before(part: TraceView<'_>, row: usize) -> Value {
    let events = &part.linked.trace.events;
    let (start, track) = (events.start.at(row), events.track.at(row));
    let is_work = events.kind[row].is_device_work();
    let pause = is_work.then(|| pause_at(&Selection::all(&part.part().linked), track, Ts(start.0.saturating_sub(1))));
    pause.flatten().filter(|pause| pause.after == Some(row as u32)).map_or(Value::Null, |pause| {
        let StreamPause { time, .. } = pause;
        json!({"start": part.offset(time.start), "dur": time.dur().0 as f64})
    })
}

fn pause(part: TraceView<'_>, track: usize, at: Ts) -> Option<Value> {
    let linked = &part.part().linked;
    let all = Selection::all(linked);
    let pause = pause_at(&all, TrackId::from(track), at)?;
    let reference = |row: Option<u32>| row.map(|row| reference(part, row as usize));
    Some(json!({
        "start": part.offset(pause.time.start),
        "dur": pause.time.dur().0 as f64,
        "part": part.at,
        "track": part.first_track + track as u32,
        "category": if pause.is_unknown(linked) { Some(IdleCause::Unknown) } else { pause.wait }.map(IdleCause::name),
        "why": pause.why(linked),
        "elsewhere": pause.elsewhere_ns(&all) as f64,
        "before": reference(pause.before),
        "after": reference(pause.after),
        "launch": reference(pause.launch),
        "waited_for": pause.waited_for(linked).iter().map(|row| reference(Some(*row))).collect::<Vec<_>>(),
        "host": pause.host(linked).map(|doing| host(part, &doing)),
    }))
}

/// The activity of a thread by name, the longest first.
fn host(part: TraceView<'_>, doing: &ThreadActivity) -> Value {
    let mut names: FxHashMap<StrId, Vec<(i64, u32)>> = FxHashMap::default();
    for (row, ns) in doing.self_ns.iter().filter(|(_, ns)| **ns > 0) {
        names.entry(part.linked.trace.events.name.at(*row as usize)).or_default().push((*ns, *row));
    }
    let total = |events: &[(i64, u32)]| sum_ns(events.iter().map(|(ns, _)| *ns));
    let mut names: Vec<_> = names.into_values().map(|events| (total(&events), events)).collect();
    sort::by_key(&mut names, |(ns, events)| (std::cmp::Reverse(*ns), events.iter().map(|(_, row)| *row).min()));
    let named = |(ns, events): &(i64, Vec<(i64, u32)>)| {
        let longest = events.iter().max_by_key(|(ns, row)| (*ns, std::cmp::Reverse(*row)));
        let event = longest.map(|(_, row)| reference(part, *row as usize));
        json!({"event": event, "count": events.len(), "self": *ns as f64})
    };
    json!({
        "track": part.first_track + doing.thread.0,
        "names": names.iter().take(MAX_LISTED).map(named).collect::<Vec<_>>(),
        "num_names": names.len(),
    })
}
