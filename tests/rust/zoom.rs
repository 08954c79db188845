//! Tests that a screen loses nothing at any zoom level.

use std::collections::BTreeMap;

use kinetoscope::LinkedTrace;
use kinetoscope::view::Session;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// The columns of an answer; times are whole nanoseconds here.
type Columns = BTreeMap<String, Vec<i64>>;

fn ask(session: &Session, request: &Value) -> (Value, Columns) {
    let answer = session.query(request.to_string().as_bytes());
    let header_size = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&answer[4..4 + header_size]).unwrap();
    assert_eq!(header["ok"], true, "{header}");
    let body = &answer[(4 + header_size).next_multiple_of(8)..];
    let columns = header["columns"].as_array().unwrap();
    let columns = columns.iter().map(|column| (column["name"].as_str().unwrap().to_owned(), numbers(column, body)));
    (header["data"].clone(), columns.collect())
}

fn numbers(column: &Value, body: &[u8]) -> Vec<i64> {
    let at = |name: &str| column[name].as_u64().unwrap() as usize;
    let bytes = &body[at("offset")..];
    match column["type"].as_str().unwrap() {
        "f64" => bytes.as_chunks().0[..at("length")].iter().map(|eight| f64::from_le_bytes(*eight) as i64).collect(),
        "u32" => bytes.as_chunks().0[..at("length")].iter().map(|four| u32::from_le_bytes(*four).into()).collect(),
        _ => bytes[..at("length")].iter().map(|byte| i64::from(*byte)).collect(),
    }
}

/// A tile's fields, in nanoseconds since the start.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tile {
    id: i64,
    lane: i64,
    start: i64,
    dur: i64,
    count: i64,
}

fn tiles(session: &Session, track: u64, (start, end): (i64, i64), pixels: u64) -> Vec<Tile> {
    let request = json!({"type": "tiles", "tracks": [track], "start": start, "end": end, "pixels": pixels});
    let (_, columns) = ask(session, &request);
    let [ids, lanes, starts, durs, counts] = ["id", "lane", "start", "dur", "count"].map(|name| &columns[name]);
    let rows = 0..ids.len();
    rows.map(|row| Tile { id: ids[row], lane: lanes[row], start: starts[row], dur: durs[row], count: counts[row] })
        .collect()
}

/// Events on three tracks, some of no length, many within each other and many that only overlap;
/// times in nanoseconds.
fn events() -> impl Strategy<Value = Vec<(u8, i64, i64)>> {
    let dur = prop_oneof![2 => 1..40_i64, 1 => 1..3_000_i64, 1 => Just(0)];
    prop::collection::vec((0..3_u8, 0..20_000_i64, dur), 1..120)
}

fn session(events: &[(u8, i64, i64)]) -> Session {
    let event = |(thread, start, dur): &(u8, i64, i64)| {
        let micros = |ns: i64| format!("{}.{:03}", ns / 1000, ns % 1000);
        format!(
            r#"{{"ph":"X","pid":1,"tid":{thread},"cat":"cpu_op","name":"e","ts":{},"dur":{}}}"#,
            micros(1_000_000 + start),
            micros(*dur)
        )
    };
    let json = format!("[{}]", events.iter().map(event).collect::<Vec<_>>().join(","));
    Session::new(LinkedTrace::new(files::trace(&json)))
}

fn tracks(session: &Session) -> Vec<u64> {
    let (overview, _) = ask(session, &json!({"type": "overview"}));
    overview["tracks"].as_array().unwrap().iter().map(|track| track["track"].as_u64().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_event_is_counted_at_every_zoom(events in events(), pixels in 1..2_000_u64) {
        let session = session(&events);
        let all: i64 = tracks(&session)
            .into_iter()
            .flat_map(|track| tiles(&session, track, (-1, 30_000), pixels))
            .map(|tile| tile.count)
            .sum();
        prop_assert_eq!(all, events.len() as i64);
    }

    #[test]
    fn every_event_is_reached_by_zooming_and_no_rectangle_claims_more_than_its_event(events in events()) {
        let session = session(&events);
        let origin = events.iter().map(|(_, start, _)| *start).min().unwrap();
        let mut seen = BTreeMap::new();
        for track in tracks(&session) {
            // A nanosecond a pixel, in windows as a screen has them.
            for window in 0..30 {
                let (start, end) = (window * 1_000, (window + 1) * 1_000);
                for tile in tiles(&session, track, (start, end), 1_000) {
                    prop_assert!(tile.start < end && tile.start + tile.dur >= start, "{tile:?} is on the screen");
                    prop_assert!(tile.count == 1 || tile.dur == 0, "{tile:?} has room for each of its events");
                    seen.insert(tile.id as usize, tile);
                }
            }
        }
        for (id, (_, start, dur)) in events.iter().enumerate() {
            let Some(tile) = seen.get(&id) else {
                // Of several of no length at one time only one can be seen, which stands for all.
                prop_assert_eq!(*dur, 0);
                continue;
            };
            prop_assert_eq!((tile.start, tile.dur), (start - origin, *dur));
        }
    }
}
