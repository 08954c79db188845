//! Tests the host seam: requests and response bytes, pinned for every language.
//!
//! `KINETOSCOPE_BLESS=1 cargo test -p kinetoscope seam` writes the files anew.

use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::write::snapshot::VERSION;
use kinetoscope::{Limits, write_snapshot};
use serde_json::{Value, json};

use crate::files;

/// Requests about the synthetic trace, by the name of their files.
fn requests() -> Vec<(&'static str, Value)> {
    vec![
        ("overview", json!({"type": "overview"})),
        ("tiles", json!({"type": "tiles", "tracks": [0, 1, 2], "start": 0, "end": 4_000_000, "pixels": 40})),
        ("at", json!({"type": "at", "track": 0, "lane": 0, "time": 100_000, "tolerance": 1000})),
        ("gap", json!({"type": "gap", "track": 2, "time": 40_000})),
        ("event", json!({"type": "event", "id": 0})),
        ("links", json!({"type": "links", "id": 0})),
        ("neighbour", json!({"type": "neighbour", "id": 0, "direction": "next"})),
        ("search", json!({"type": "search", "text": "gemm", "limit": 5})),
        ("marks", json!({"type": "marks", "text": "gemm", "start": 0, "end": 4_000_000, "pixels": 40})),
        ("summary", json!({"type": "summary", "start": 0, "end": 1_000_000})),
        ("analyze", json!({"type": "analyze", "name": "breakdown", "iteration": 1, "options": {"micro_ns": 2000}})),
        (
            "compare",
            json!({"type": "compare", "start": 0, "end": 450_000, "other_start": 450_000, "other_end": 900_000, "limit": 3}),
        ),
        ("hits", json!({"type": "hits", "text": "gemm", "limit": 3})),
        ("analyses", json!({"type": "analyses"})),
        ("findings", json!({"type": "findings"})),
        ("flame", json!({"type": "flame", "options": {"by": "chain", "weight": "device_ns"}})),
        ("path", json!({"type": "path", "start": 0, "end": 4_000_000, "pixels": 20})),
        ("counters", json!({"type": "counters"})),
        ("counter", json!({"type": "counter", "counter": 0, "start": 0, "end": 1_000_000, "pixels": 10})),
        ("changes", json!({"type": "changes"})),
        (
            "tiles_by",
            json!({"type": "tiles", "tracks": [2], "start": 0, "end": 900_000, "pixels": 9, "by": "operator"}),
        ),
        ("unknown", json!({"type": "weather"})),
    ]
}

#[test]
fn answers_are_pinned() {
    let session = files::session("synthetic_cuda");
    let folder = files::path("tests/golden/seam");
    let is_blessing = is_blessing();
    for (name, mut request) in requests() {
        if let Some(id) = request.get_mut("id") {
            *id = json!(first_kernel(&session));
        }
        let (request_file, answer_file) = (format!("{name}.request.json"), format!("{name}.response.bin"));
        let answer = session.query(request.to_string().as_bytes());
        if is_blessing {
            std::fs::write(folder.join(request_file), request.to_string() + "\n").unwrap();
            std::fs::write(folder.join(answer_file), &answer).unwrap();
            let text = with_exact_numbers(pretty(&answer), &answer);
            std::fs::write(folder.join(format!("{name}.expected.json")), text).unwrap();
            continue;
        }
        let pinned: Value = serde_json::from_slice(&std::fs::read(folder.join(request_file)).unwrap()).unwrap();
        assert_eq!(pinned, request, "{name}: the request changed");
        let expected = std::fs::read_to_string(folder.join(format!("{name}.expected.json"))).unwrap();
        assert_eq!(with_exact_numbers(pretty(&answer), &answer), expected, "{name}: the answer changed");
        assert_eq!(std::fs::read(folder.join(answer_file)).unwrap(), answer, "{name}: the bytes changed");
    }
}

fn first_kernel(session: &kinetoscope::view::Session) -> u32 {
    let events = &files::shown(session).trace.events;
    let row = events.kind.iter().position(|kind| *kind == kinetoscope::EventKind::Kernel).unwrap();
    events.position.at(row)
}

/// The header of an answer, as JSON.
fn header(answer: &[u8]) -> &str {
    let size = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    std::str::from_utf8(&answer[4..4 + size]).unwrap()
}

/// An answer as people can read it: its header, with each column's values.
fn pretty(answer: &[u8]) -> String {
    let header = header(answer);
    let body = &answer[(4 + header.len()).next_multiple_of(8)..];
    let mut header: Value = serde_json::from_str(header).unwrap();
    for column in header["columns"].as_array_mut().unwrap() {
        let (offset, length) =
            (column["offset"].as_u64().unwrap() as usize, column["length"].as_u64().unwrap() as usize);
        assert_eq!(offset % 8, 0);
        let values: Vec<Value> = match column["type"].as_str().unwrap() {
            "f64" => body[offset..][..length * 8].as_chunks().0.iter().map(|b| json!(f64::from_le_bytes(*b))).collect(),
            "u32" => body[offset..][..length * 4].as_chunks().0.iter().map(|b| json!(u32::from_le_bytes(*b))).collect(),
            _ => body[offset..][..length].iter().map(|b| json!(b)).collect(),
        };
        column["values"] = Value::Array(values);
    }
    serde_json::to_string_pretty(&header).unwrap() + "\n"
}

/// The text with the numbers of an answer as they are written: the parser reads some of them one
/// digit off.
fn with_exact_numbers(text: String, answer: &[u8]) -> String {
    let numbers = header(answer).split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let is_inexact = |number: &&str| number.contains('.') && number.len() > 16;
    numbers.filter(is_inexact).fold(text, |text, number| {
        let read: f64 = serde_json::from_str(number).unwrap();
        text.replace(&format!(": {read}"), &format!(": {number}"))
    })
}

#[expect(clippy::disallowed_methods, reason = "a switch for the person who changes the seam")]
fn is_blessing() -> bool {
    std::env::var_os("KINETOSCOPE_BLESS").is_some()
}

/// Any change of a snapshot's meaning, even the order of an enum, needs a new version and a new
/// file.
#[test]
fn a_snapshot_of_this_version_says_what_it_said() {
    let trace = files::pair("hostile").trace;
    let path = files::path(&format!("tests/golden/snapshot/{VERSION}.kscope"));
    if is_blessing() && !path.exists() {
        std::fs::write(&path, write_snapshot(&trace).unwrap()).unwrap();
    }
    let again = read_snapshot(&std::fs::read(path).unwrap(), Limits::default()).unwrap();
    let kinds = |trace: &kinetoscope::Trace| trace.warnings.iter().map(|row| (row.kind, row.count)).collect::<Vec<_>>();
    assert_eq!(kinds(&again), kinds(&trace));
    let chrome = |trace: &kinetoscope::Trace| {
        let mut json = Vec::new();
        write_chrome(trace, &mut json).unwrap();
        json
    };
    assert!(chrome(&again) == chrome(&trace) && again.nodes == trace.nodes);
}
