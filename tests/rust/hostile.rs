//! Tests hostile traces: no panic, bounded memory, clear errors.

use std::sync::Arc;

use kinetoscope::analyze::health;
use kinetoscope::view::Session;
use kinetoscope::{Error, Input, Limits, LinkedTrace, WarningKind, read, write_snapshot};
use proptest::prelude::*;
use serde_json::json;

use crate::files;

/// Reads, links, asks and saves, as a host would; the number of events.
pub(crate) fn exercise(bytes: &[u8]) -> Result<usize, Error> {
    let linked = Arc::new(LinkedTrace::new(read([Input::new(bytes)], Limits::default())?));
    let mut several = Session::new(Arc::clone(&linked));
    several.add("again", None, Arc::clone(&linked))?;
    let session = Session::new(Arc::clone(&linked));
    for request in [
        r#"{"type":"overview"}"#,
        r#"{"type":"tiles","tracks":[0,1,2,3,9999],"start":-1e300,"end":1e300,"pixels":7}"#,
        r#"{"type":"tiles","tracks":[0,1,2,3],"start":0,"end":1000000,"pixels":500}"#,
        r#"{"type":"at","track":0,"lane":0,"time":1e18,"tolerance":1e300}"#,
        r#"{"type":"search","text":"a","limit":3}"#,
        r#"{"type":"summary","start":5,"end":1}"#,
        r#"{"type":"summary"}"#,
        "not json",
    ] {
        session.query(request.as_bytes());
        for align in [r#""clocks""#, r#""recorded""#, r#""start""#, r#"{"iteration":-1}"#, "7"] {
            several.query(request.replace('{', &format!(r#"{{"align":{align},"#)).as_bytes());
        }
    }
    for position in linked.trace.events.position.iter().take(20) {
        session.query(format!(r#"{{"type":"event","id":{position}}}"#).as_bytes());
        session.query(format!(r#"{{"type":"links","id":{position}}}"#).as_bytes());
        session.query(format!(r#"{{"type":"neighbour","id":{position},"direction":"child"}}"#).as_bytes());
    }
    for table in kinetoscope::table::TABLES {
        let rows = (table.num_rows)(&linked).min(50);
        table.columns.iter().for_each(|column| drop(column.values(&linked, 0..rows)));
    }
    session.query(br#"{"type":"picture","width":800}"#);
    several.query(br#"{"type":"picture","width":800,"start":7,"end":3}"#);
    let snapshot = write_snapshot(&linked.trace)?;
    read::snapshot::read_snapshot(&snapshot, Limits::default())?;
    Ok(linked.trace.events.len() + linked.trace.nodes.len())
}

#[test]
fn a_file_cut_anywhere_gives_what_is_whole() {
    for name in ["hostile/kineto_trace_0.json.gz", "hostile/torch_et_0.json.gz"] {
        let text = files::text(name);
        let mut last = 0;
        for end in 0..=text.len() {
            let found = read([Input::new(&text[..end])], Limits::default());
            let count = found.map_or(0, |trace| trace.events.len() + trace.nodes.len());
            assert!(count >= last, "{name} cut at {end}: {count} after {last}");
            last = count;
        }
        assert!(last > 0);
    }
}

#[test]
fn gzip_cut_anywhere_does_not_panic() {
    let bytes = files::bytes("hostile/kineto_trace_0.json.gz");
    let whole = exercise(&bytes).unwrap();
    for end in 0..bytes.len() {
        let found = read([Input::new(&bytes[..end])], Limits::default());
        assert!(found.map_or(0, |trace| trace.events.len()) <= whole);
    }
}

#[test]
fn errors_say_expected_found_and_where() {
    let message = |bytes: &[u8]| read([Input::new(bytes).named("x.json")], Limits::default()).unwrap_err().to_string();
    insta::assert_snapshot!(message(b""), @"expected a JSON trace, plain or compressed, found an empty file (x.json, byte 0)");
    insta::assert_snapshot!(message(b"<html>"), @"expected a JSON trace, plain or compressed, found an HTML or XML page (x.json, byte 0)");
    insta::assert_snapshot!(message(br#"{"a": 1}"#), @r#"expected an object with `traceEvents` or `nodes`, or an array of events, found an object with ["a"] (x.json, byte 8)"#);
    insta::assert_snapshot!(message(b"[1, 2, 3]"), @"expected an object with `traceEvents` or `nodes`, or an array of events, found an array without events (x.json, byte 9)");
    insta::assert_snapshot!(message(b"{\"traceEv"), @"expected an object with `traceEvents` or `nodes`, or an array of events, found the end of the file (x.json, byte 9)");
}

#[test]
fn a_gzip_bomb_ends_at_the_limit() {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(b"[").unwrap();
    (0..64).for_each(|_| encoder.write_all(&vec![b' '; 1 << 20]).unwrap());
    let bomb = encoder.finish().unwrap();
    let error = read([Input::new(&bomb)], Limits { max_bytes: 1 << 20, ..Limits::default() }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected at most 1048576 bytes of decompressed text (raise max_bytes to allow more), found more"
    );
}

#[test]
fn quotes_and_backslashes_that_nobody_escaped_are_read_as_meant() {
    let json = r#"{"traceEvents": [
        {"ph": "X", "name": "a", "ts": 1, "dur": 1},
        {"ph": "X", "name": "say "hi", now", "ts": 2, "dur": 1, "args": {"path": "C:\dir", "n": 1}},
        {"ph": "X", "name": "b", "ts": 3, "dur": 1},
        {"ph": "X", "name": "lost, "ts": 4, "dur": 1},
        {"ph": "X", "name": "c "d"", "ts": 5, "dur": 1}
    ], "rank": 3}"#;
    let trace = files::trace(json);
    let names: Vec<_> = (0..trace.events.len()).map(|row| trace.event_name(row)).collect();
    assert_eq!(names, ["a", r#"say "hi", now"#, "b", r#"c "d""#]);
    assert_eq!(trace.header_value("rank"), Some(3.into()));
    assert_eq!(trace.warnings.count(WarningKind::RepairedElement), 2);
    assert_eq!(trace.warnings.count(WarningKind::MalformedElement), 1);
    assert!(trace.events.position.iter().eq([0, 1, 2, 4]));
}

#[test]
fn a_list_of_values_stays_one_though_nobody_escaped_them() {
    // As PyTorch 2.0.1 writes `record_function("nm", args='some "args" here')`.
    let value = |inputs: &str| {
        let node = format!(r#"{{"name": "nm", "id": 7, "parent": 1, "rf_id": 5, "inputs": {inputs}, "outputs": []}}"#);
        let trace = files::trace(&format!(r#"{{"schema": "1.0.1", "nodes": [{node}, {{"name": "b", "id": 8}}]}}"#));
        assert_eq!(trace.nodes.len(), 2);
        let repaired = trace.warnings.count(WarningKind::RepairedElement);
        (trace.strings.text(trace.nodes[0].inputs.values).to_owned(), repaired)
    };
    let repaired = |inputs, meant: &str| assert_eq!(value(inputs), (meant.to_owned(), 1), "{inputs}");
    repaired(r#"["some "args" here"]"#, r#"["some \"args\" here"]"#);
    repaired(r#"[1, "a "b", c", [2, "cpu"]]"#, r#"[1,"a \"b\", c",[2,"cpu"]]"#);
    assert_eq!(value(r#"["plain", NaN]"#), (String::from(r#"["plain","NaN"]"#), 0));
    // Irreparable values are kept as text.
    assert_eq!(value("[1, <x]"), (String::from(r#""[1, <x]""#), 0));
}

#[test]
fn a_malformed_node_does_not_end_the_graph() {
    let json = r#"{"schema": "1.0.1", "nodes": [
        {"name": "a", "id": 2, "parent": 1, "inputs": [], "rf_id": 4},
        {"name": "my "range"", "id": 3, "parent": 1, "inputs": [], "rf_id": 5},
        {"name": "b", "id": 4, "parent": 1, "inputs": ?, "rf_id": 6},
        {"name": "c", "id": 5, "parent": 1, "inputs": [], "rf_id": 7}
    ]}"#;
    let trace = files::trace(json);
    let names: Vec<_> = trace.nodes.iter().map(|node| trace.strings.text(node.name)).collect();
    assert_eq!(names, ["a", r#"my "range""#, "c"]);
}

#[test]
fn two_arrays_of_events_are_counted_on() {
    let trace = files::trace(
        r#"{"traceEvents": [{"ph": "X", "ts": 1, "dur": 1}], "traceEvents": [{"ph": "X", "ts": 2, "dur": 1}]}"#,
    );
    assert!(trace.events.position.iter().eq([0, 1]));
}

#[test]
fn blanks_are_not_gathered() {
    // A gigabyte of blanks, a chunk at a time: were they kept, the limit on one element would be
    // passed.
    struct Blanks(u64);
    impl std::io::Read for Blanks {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = (buffer.len() as u64).min(self.0) as usize;
            buffer[..count].fill(b' ');
            self.0 -= count as u64;
            Ok(count)
        }
    }
    let stream = std::io::Read::chain(&b"[1, "[..], Blanks(1 << 30));
    let error = read([Input::stream(stream)], Limits::default()).unwrap_err().to_string();
    assert!(error.contains("an array without events"), "{error}");
}

/// Gives a text a few bytes at a time, as a slow disk would.
struct Drip<'a>(&'a [u8], usize);

impl std::io::Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn a_stream_gives_the_trace_that_the_bytes_give() {
    for name in ["transformer_cpu/kineto_trace_0.json.gz", "synthetic_cuda/torch_et_0.json.gz"] {
        let (packed, plain) = (files::bytes(name), files::text(name));
        let whole = read([Input::new(&plain)], Limits::default()).unwrap();
        for (bytes, step) in [(&packed, 1_000), (&plain, 70_001), (&plain, 1 << 22)] {
            let trace = read([Input::stream(Drip(bytes, step))], Limits::default()).unwrap();
            assert_eq!(trace.events, whole.events, "{name}");
            assert_eq!(trace.nodes, whole.nodes, "{name}");
            assert_eq!(trace.metadata_json(), whole.metadata_json(), "{name}");
            assert_eq!(trace.warnings, whole.warnings, "{name}");
        }
    }
}

#[test]
fn sums_of_huge_durations_do_not_overflow() {
    let event = |at: usize| format!(r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":{at},"ts":1,"dur":9e15}}"#);
    let json = format!("[{}]", (0..8).map(event).collect::<Vec<_>>().join(","));
    exercise(json.as_bytes()).unwrap();
}

#[test]
fn defects_are_counted_with_their_place() {
    let json = r#"[
        {"ph": "X", "name": "a", "ts": 1, "dur": -5},
        {"ph": "X", "name": "b", "dur": 1},
        {"ph": "X", "name": "c", "ts": 7},
        7, {"ts": 3},
        {"ph": "X", "name": "bad "quote"", "ts": 8, "dur": 1},
        {"ph": "E", "ts": 9},
        {"ph": "B", "name": "open", "ts": 9},
        {"ph": "Q", "ts": 1}
    ] trailing"#;
    let trace = files::trace(json);
    let seen: Vec<_> = trace.warnings.iter().map(|w| (w.kind.name(), w.count, w.first.event.unwrap_or(99))).collect();
    insta::assert_debug_snapshot!(seen, @r#"
    [
        (
            "negative_duration",
            1,
            0,
        ),
        (
            "missing_start",
            1,
            1,
        ),
        (
            "missing_duration",
            1,
            2,
        ),
        (
            "not_an_event",
            2,
            3,
        ),
        (
            "repaired_element",
            1,
            5,
        ),
        (
            "unknown_phase",
            1,
            8,
        ),
        (
            "trailing_text",
            1,
            9,
        ),
        (
            "unmatched_end",
            1,
            6,
        ),
        (
            "unfinished_begin",
            1,
            7,
        ),
    ]
    "#);
    assert_eq!(trace.events.len(), 5);
    assert_eq!(trace.warnings.count(WarningKind::UnmatchedEnd), 1);
}

#[test]
fn blanks_before_a_malformed_element_are_no_part_of_it() {
    for separator in ["", ","] {
        let blanks = " ".repeat(50);
        let text = format!(r#"[{{"ph": "X", "ts": 1, "dur": 1}}{separator}{blanks}?"#);
        for input in [Input::new(text.as_bytes()), Input::stream(text.as_bytes())] {
            let trace = read([input], Limits::default()).unwrap();
            assert_eq!(trace.events.len(), 1);
            assert_eq!(trace.warnings.count(WarningKind::MalformedElement), 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn mutated_traces_do_not_panic(
        which in 0..4_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..12),
    ) {
        let names = ["hostile/kineto_trace_0", "hostile/torch_et_0", "synthetic_cuda/kineto_trace_0", "minimal_cpu/torch_et_0"];
        let mut text = files::text(&format!("{}.json.gz", names[which]));
        for (place, byte, kind) in edits {
            let at = place.index(text.len());
            match kind {
                0 => text[at] = byte,
                1 => drop(text.remove(at)),
                _ => text.insert(at, byte),
            }
        }
        drop(exercise(&text));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(exercise(&bytes));
        drop(exercise(&[b"{\"traceEvents\": [", bytes.as_slice()].concat()));
        drop(exercise(&[b"{\"nodes\": [", bytes.as_slice()].concat()));
    }
}

#[test]
fn times_that_no_sum_holds_are_said() {
    let trace = |times: [(i64, i64); 2]| {
        let event = |tid: usize| {
            let ((start, dur), name, category) = (times[tid], "k", "kernel");
            json!({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": tid, "ts": start, "dur": dur,
                "args": {"device": 0, "stream": tid}})
        };
        LinkedTrace::new(files::trace(&json!({"traceEvents": [event(0), event(1)]}).to_string()))
    };
    let counts = |times: [(i64, i64); 2]| {
        let health = health(&trace(times));
        ["immense_time", "overlong_work"]
            .map(|kind| health.iter().find(|row| row.kind == kind).map_or(0, |row| row.count))
    };
    let last = i64::MAX / 1_000;
    assert_eq!(counts([(1, 2), (last - 9, 7)]), [0, 0]);
    assert_eq!(counts([(1, 2), (last - 9, 17)]), [1, 0]);
    assert_eq!(counts([(0, last / 2), (0, last / 2 + 10)]), [0, 2], "no recording lasts for centuries");
    assert_eq!(counts([(0, 2), (0, 3)]), [0, 0]);
}

/// A kernel at a time, and its launch at another.
fn launched(at: i64, dur: i64, launched: i64) -> kinetoscope::Trace {
    files::trace(&format!(
        r#"{{"traceEvents": [
            {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": {at}, "dur": {dur},
              "args": {{"correlation": 5, "stream": 7}}}},
            {{"ph": "f", "cat": "ac2g", "id": 5, "pid": 0, "tid": 7, "ts": {at}}},
            {{"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 1, "tid": 1, "ts": {launched}, "dur": 6,
              "args": {{"correlation": 5}}}},
            {{"ph": "s", "cat": "ac2g", "id": 5, "pid": 1, "tid": 1, "ts": {launched}}}]}}"#
    ))
}

#[test]
fn what_is_at_time_0_long_before_all_else_has_no_time() {
    let warned = |trace: &kinetoscope::Trace| trace.warnings.count(WarningKind::ZeroTime);
    let trace = launched(0, 0, 1_615_207_264_505_000);
    assert_eq!((trace.range().dur().0, warned(&trace)), (6_000, 2));
    let linked = LinkedTrace::new(trace);
    assert_eq!(linked.links.launch.get(0), Some(1));
    // A clock may begin at 0, however long it goes on.
    let relative = launched(0, 0, 7_200_000_000);
    assert_eq!((relative.range().dur().0, warned(&relative)), (7_200_000_006_000, 0));
}

#[test]
fn what_has_no_time_takes_none_unless_it_ends_with_the_rest() {
    let trace = |header: &str, at_zero: &str| {
        files::trace(&format!(
            r#"{{{header}"traceEvents": [{at_zero},
                {{"ph": "C", "name": "mem", "pid": 1, "ts": 0, "args": {{"bytes": 1}}}},
                {{"ph": "X", "name": "op", "pid": 1, "tid": 1, "ts": 6000000000, "dur": 5}},
                {{"ph": "i", "name": "point", "pid": 1, "tid": 1, "ts": 5999999990}}]}}"#
        ))
    };
    let base = r#""baseTimeNanoseconds": 1600000000000000000, "#;
    let at_zero = r#"{"ph": "X", "name": "span", "pid": 1, "tid": 2, "ts": 0, "dur": 1000000}"#;
    let placed = trace(base, at_zero);
    let range = placed.range();
    assert_eq!((range.start.0, range.dur().0), (1_600_000_000_000_000_000 + 5_999_999_990_000, 15_000));
    assert_eq!((placed.events.dur.at(0).0, placed.counters[0].time), (0, range.start));
    assert_eq!(placed.warnings.count(WarningKind::ZeroTime), 2);
    let unfinished = trace(base, r#"{"ph": "B", "name": "span", "pid": 1, "tid": 2, "ts": 0}"#);
    assert_eq!(unfinished.range(), range);
    assert_eq!(trace("", at_zero).range().start.0, 0);
}

#[test]
fn an_empty_element_is_no_defect() {
    let trace = files::trace(r#"{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 5}, {}, { }]}"#);
    assert_eq!((trace.events.len(), trace.warnings.iter().count()), (1, 0));
}
