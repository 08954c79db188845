//! Why a stream had nothing to do at a moment.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::event::reference;
use super::part::View;
use super::response::Response;
use super::screen::Screen;
use crate::analyze::{Doing, Pause, Selection, Wait, pause_at};
use crate::id::{StrId, TrackId};
use crate::sort;
use crate::time::{Ts, sum_ns};

/// How many names of what the host did are listed.
const MAX_LISTED: usize = 8;

#[inline(never)] // a part of the compiled core begins here (wasm/build/parts.mjs)
pub(super) fn answer(screen: &Screen<'_>, track: u32, time: f64) -> Response {
    let found = screen.track(track).and_then(|(part, track)| pause(part, track, part.time(time)));
    Response::of("gap", &json!({"gap": found}))
}

/// When the stream of device work had nothing to do right before it; null where it had, and of what is no work of a device.
pub(super) fn idle_before(part: View<'_>, row: usize) -> Value {
    let events = &part.linked.trace.events;
    let (start, track) = (events.start[row], events.track[row]);
    let is_work = events.kind[row].is_device_work();
    let pause = is_work.then(|| pause_at(&Selection::all(&part.part().linked), track, Ts(start.0.saturating_sub(1))));
    pause.flatten().filter(|pause| pause.after == Some(row as u32)).map_or(Value::Null, |pause| {
        let Pause { time, .. } = pause;
        json!({"start": part.offset(time.start), "dur": time.dur().0 as f64})
    })
}

fn pause(part: View<'_>, track: usize, at: Ts) -> Option<Value> {
    let linked = &part.part().linked;
    let all = Selection::all(linked);
    let pause = pause_at(&all, TrackId::from(track), at)?;
    let reference = |row: Option<u32>| row.map(|row| reference(part, row as usize));
    Some(json!({
        "start": part.offset(pause.time.start),
        "dur": pause.time.dur().0 as f64,
        "part": part.at,
        "track": part.first_track + track as u32,
        "category": pause.wait.map(Wait::name),
        "why": pause.why(linked),
        "elsewhere": pause.elsewhere_ns(&all) as f64,
        "before": reference(pause.before),
        "after": reference(pause.after),
        "launch": reference(pause.launch),
        "waited_for": pause.waited_for(linked).iter().map(|row| reference(Some(*row))).collect::<Vec<_>>(),
        "host": pause.host(linked).map(|doing| host(part, &doing)),
    }))
}

/// What a thread did, by names, the longest first.
fn host(part: View<'_>, doing: &Doing) -> Value {
    let mut names: FxHashMap<StrId, Vec<(i64, u32)>> = FxHashMap::default();
    for (row, ns) in doing.self_ns.iter().filter(|(_, ns)| **ns > 0) {
        names.entry(part.linked.trace.events.name[*row as usize]).or_default().push((*ns, *row));
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
