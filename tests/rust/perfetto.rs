//! Tests traces of Perfetto.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use kinetoscope::trace::kind::EventKind;
use kinetoscope::write::perfetto::write_perfetto;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, WarningKind, read};
use serde_json::json;

use crate::files;
use crate::hostile::exercise;
use crate::nsight::rows;
use crate::perfetto_packets::{Wire, at, begin, end, file, inside, thread, wire};

const COLUMNS: [&str; 10] =
    ["name", "category", "kind", "start_ns", "dur_ns", "device", "stream", "grid", "bytes", "correlation_id"];

fn parsed(bytes: &[u8]) -> Trace {
    read([Input::new(bytes)], Limits::default()).unwrap()
}

fn from(packets: impl IntoIterator<Item = Wire>) -> LinkedTrace {
    LinkedTrace::new(parsed(&file(packets)))
}

/// Values of these columns of all events, sorted.
fn sorted(linked: &LinkedTrace, columns: &[&str]) -> Vec<Vec<String>> {
    let mut found = rows(linked, columns, |_| true);
    found.sort();
    found
}

/// Name, start and duration of all events, in the order of the file.
fn spans(linked: &LinkedTrace) -> Vec<(String, i64, i64)> {
    let trace = &linked.trace;
    let span =
        |row: usize| (trace.event_name(row).to_owned(), trace.events.start.at(row).0, trace.events.dur.at(row).0);
    (0..trace.events.len()).map(span).collect()
}

fn warned(linked: &LinkedTrace, kind: WarningKind) -> u64 {
    linked.trace.warnings.iter().find(|warning| warning.kind == kind).map_or(0, |warning| warning.count)
}

fn span(name: &str, start: i64, dur: i64) -> (String, i64, i64) {
    (name.to_owned(), start, dur)
}

#[test]
fn the_two_formats_of_pytorch_have_the_same_events() {
    let of = |name: &str| LinkedTrace::new(parsed(&files::bytes(&format!("synthetic_perfetto/{name}"))));
    let (json, perfetto) = (of("trace.json.gz"), of("trace.pftrace"));
    assert_eq!(perfetto.trace.warnings.iter().len(), 0, "{:?}", perfetto.trace.warnings);
    // PyTorch adds the span of the profiler itself to JSON alone.
    let own = |linked: &LinkedTrace, columns: &[&str]| {
        let mut found = sorted(linked, columns);
        found.retain(|row| row[0] != "PyTorch Profiler (0)");
        found
    };
    let columns = ["name", "category", "kind", "start_ns", "dur_ns", "device", "stream", "grid", "block", "bytes"];
    assert_eq!(own(&perfetto, &columns), own(&json, &columns));
    let linked = |linked: &LinkedTrace| {
        let launches = rows(linked, &["kind", "launch_id", "operator_id"], |row| row[0] == "kernel");
        launches.iter().filter(|row| row[1] != "-" && row[2] != "-").count()
    };
    assert_eq!((linked(&perfetto), linked(&json)), (18, 18));
    let values = |trace: &Trace| trace.counters.iter().map(|row| row.value).sum::<f64>().round();
    assert_eq!(perfetto.trace.counters.len(), json.trace.counters.len());
    assert!((values(&perfetto.trace) - values(&json.trace)).abs() <= 3.0, "rounded by PyTorch, in one of them");
    // A node of a graph waited for another one.
    assert_eq!(perfetto.trace.flows.len(), 2 * 3);
}

#[test]
fn a_trace_reads_back_with_the_same_rows() {
    for name in [
        "minimal_cpu/kineto_trace_0.json.gz",
        "transformer_cuda/kineto_trace_0.json.gz",
        "graph_cuda/kineto_trace_0.json.gz",
        "nccl_cuda/kineto_trace_0.json.gz",
        "synthetic_cuda/kineto_trace_0.json.gz",
        "hostile/kineto_trace_0.json.gz",
        "jax_cuda/recorder.trace.json.gz",
        "synthetic_perfetto/trace.json.gz",
    ] {
        let whole = LinkedTrace::new(parsed(&files::bytes(name)));
        let mut out = Vec::new();
        write_perfetto(&whole, &mut out).unwrap();
        let again = LinkedTrace::new(parsed(&out));
        let columns = [&COLUMNS[..], &["depth", "self_ns", "process", "thread", "args"]].concat();
        assert_eq!(sorted(&again, &columns), sorted(&whole, &columns), "{name}");
        assert_eq!(again.links.launched.len(), whole.links.launched.len(), "{name}");
        assert_eq!(again.trace.metadata_json(), whole.trace.metadata_json(), "{name}");
        let points = |trace: &Trace| {
            let mut found: Vec<_> =
                trace.instants.iter().map(|row| (row.time, trace.strings.text(row.name).to_owned())).collect();
            found.extend(trace.counters.iter().map(|row| (row.time, row.value.to_string())));
            found.sort();
            found
        };
        assert_eq!(points(&again.trace), points(&whole.trace), "{name}");
    }
}

#[test]
fn flows_between_threads_keep_their_names() {
    let whole = LinkedTrace::new(files::trace(
        r#"[{"ph": "X", "name": "forward", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 2},
            {"ph": "X", "name": "backward", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 5, "dur": 2},
            {"ph": "s", "name": "fwdbwd", "cat": "fwdbwd", "id": 7, "pid": 1, "tid": 1, "ts": 1},
            {"ph": "f", "name": "fwdbwd", "cat": "fwdbwd", "id": 7, "pid": 1, "tid": 2, "ts": 5, "bp": "e"}]"#,
    ));
    let mut out = Vec::new();
    write_perfetto(&whole, &mut out).unwrap();
    let again = parsed(&out);
    let flow = |trace: &Trace| {
        let row =
            |row: &kinetoscope::trace::flow::Flow| (trace.strings.text(row.category).to_owned(), row.phase, row.time);
        trace.flows.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(flow(&again), flow(&whole.trace));
    assert!(again.header_value("kinetoscope_flows").is_none());
}

#[test]
fn slices_that_overlap_are_all_kept() {
    let whole = LinkedTrace::new(files::trace(
        r#"[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
            {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 5, "dur": 10},
            {"ph": "X", "name": "c", "pid": 1, "tid": 1, "ts": 5, "dur": 4},
            {"ph": "X", "name": "d", "pid": 1, "tid": 1, "ts": 9, "dur": 12},
            {"ph": "X", "name": "e", "pid": 1, "tid": 1, "ts": 10, "dur": 0}]"#,
    ));
    let mut out = Vec::new();
    write_perfetto(&whole, &mut out).unwrap();
    let columns = ["name", "start_ns", "dur_ns", "thread"];
    assert_eq!(sorted(&LinkedTrace::new(parsed(&out)), &columns), sorted(&whole, &columns));
}

#[test]
fn ends_close_the_slices_of_their_track_in_the_order_of_time() {
    let track = || thread(1, [10, 11], "main");
    let nested = from([track(), begin(0, 1, "a"), begin(20, 1, "b"), end(50, 1), end(90, 1)]);
    assert_eq!(spans(&nested), [span("a", 0, 90), span("b", 20, 30)]);
    let late = from([track(), begin(20, 1, "b"), begin(0, 1, "a"), end(90, 1), end(50, 1)]);
    assert_eq!(spans(&late), [span("b", 20, 30), span("a", 0, 90)], "packets out of order");
    // One writer has all begins, then all ends: slices that touch would be mixed up by time alone.
    let run =
        from([track(), begin(0, 1, "a"), begin(50, 1, "b"), begin(60, 1, "c"), end(50, 1), end(60, 1), end(61, 1)]);
    assert_eq!(spans(&run), [span("a", 0, 50), span("b", 50, 10), span("c", 60, 1)]);
    let open = from([track(), begin(0, 1, "a"), begin(20, 1, "b"), end(50, 1)]);
    assert_eq!(warned(&open, WarningKind::UnfinishedBegin), 1);
}

#[test]
fn tracks_have_the_places_of_their_threads_and_processes() {
    let process = wire().message(60, wire().number(1, 5).message(3, wire().number(1, 10).bytes(6, "python")));
    let linked = from([
        process,
        thread(1, [10, 11], "main"),
        inside(2, 1, "main"),
        inside(3, 5, "requests"),
        inside(4, 9, "alone"),
        begin(0, 1, "own"),
        begin(1, 2, "lane"),
        begin(2, 3, "row"),
        begin(3, 4, "global row"),
        end(9, 1),
        end(9, 2),
        end(9, 3),
        end(9, 4),
    ]);
    let found = sorted(&linked, &["name", "process", "thread"]);
    let row = |name: &str, process: &str, thread: &str| [name, process, thread].map(String::from).to_vec();
    assert_eq!(
        found,
        [
            row("global row", "global", "alone"),
            row("lane", "10", "11"),
            row("own", "10", "11"),
            row("row", "10", "requests")
        ]
    );
}

#[test]
fn texts_and_defaults_come_from_earlier_packets_of_the_sequence() {
    let interned = wire()
        .message(1, wire().number(1, 3).bytes(2, "cpu_op"))
        .message(2, wire().number(1, 4).bytes(2, "aten::add"))
        .message(3, wire().number(1, 5).bytes(2, "note"));
    let defaults = wire().message(11, wire().number(11, 1));
    let first = wire().number(10, 1).number(13, 1).message(12, interned).message(59, defaults);
    let annotation = wire().number(1, 5).number(4, 77);
    let event = wire().number(9, 1).number(3, 3).number(10, 4).message(4, annotation);
    let begins = wire().number(8, 100).number(10, 1).number(13, 2).message(11, event.clone());
    let other = wire().number(8, 100).number(10, 2).number(13, 2).message(11, event);
    let ends = wire().number(8, 300).number(10, 1).message(11, wire().number(9, 2));
    let linked = from([thread(1, [10, 11], "main"), first, begins, other, ends]);
    let found = rows(&linked, &["name", "kind", "dur_ns", "args"], |_| true);
    assert_eq!(found, [["aten::add", "operator", "200", "{\"note\":77}"].map(String::from).to_vec()]);
    assert_eq!(warned(&linked, WarningKind::LostPacket), 1, "the other sequence has given no texts");
}

#[test]
fn values_of_all_types_are_arguments() {
    let named = |name: &str| wire().bytes(10, name);
    let list = named("list").message(12, wire().number(4, 1)).message(12, wire().bytes(6, "b"));
    let dict = named("dict").message(11, named("in\"ner").number(2, 1)).message(11, named("empty"));
    let nested = wire().number(1, 1).bytes(2, "k").message(3, wire().number(5, 6));
    let event = [
        named("text").bytes(6, "a\"b"),
        named("whole").number(4, -5_i64 as u64),
        named("large").number(3, u64::MAX),
        named("double").fixed(5, 0.1_f64.to_bits()),
        named("infinite").fixed(5, f64::INFINITY.to_bits()),
        named("pointer").number(7, 255),
        named("json").bytes(9, "{\"a\": [1, 2]}"),
        named("bad").bytes(9, "{\"a\": "),
        list,
        dict,
        named("nested").message(8, nested),
    ];
    let fields =
        event.into_iter().fold(wire().number(9, 3).number(11, 1).bytes(23, "i"), |event, one| event.message(4, one));
    let trace =
        parsed(&file([thread(1, [10, 11], "main"), at(1000).message(11, fields), begin(0, 1, "a"), end(5000, 1)]));
    let mut args = String::new();
    trace.args.write_json(&trace.strings, trace.instants[0].args, &mut args);
    let found: serde_json::Value = serde_json::from_str(&args).unwrap();
    let expected = json!({"text": "a\"b", "whole": -5, "large": u64::MAX, "double": 0.1, "infinite": "inf",
        "pointer": "0xff", "json": {"a": [1, 2]}, "list": [1, "b"], "dict": {"in\"ner": true, "empty": []},
        "nested": {"k": 6}});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&found[key], value, "{key}");
    }
    assert!(found["bad"].is_string(), "{found}");
}

#[test]
fn packets_are_unpacked() {
    let packets = file([begin(0, 1, "a"), end(50, 1)]);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&packets).unwrap();
    let compressed = encoder.finish().unwrap();
    let linked = from([thread(1, [10, 11], "main"), wire().bytes(50, &compressed), begin(60, 1, "b"), end(70, 1)]);
    assert_eq!(spans(&linked), [span("a", 0, 50), span("b", 60, 10)]);
    let cut = from([thread(1, [10, 11], "main"), begin(60, 1, "b"), end(70, 1), wire().bytes(50, &compressed[..9])]);
    assert_eq!((spans(&cut).len(), warned(&cut, WarningKind::DamagedCompression)), (1, 1));
}

#[test]
fn times_of_other_clocks_are_brought_to_the_clock_of_the_trace() {
    let clock = |id: u64, time: u64| wire().number(1, id).number(2, time);
    let snapshot = wire()
        .message(1, clock(6, 5_000))
        .message(1, clock(1, 1_700_000_000_000_005_000))
        .message(1, clock(3, 1_000))
        .message(1, clock(64, 10).number(3, 1).number(4, 1000));
    let on = |clock: u64, time: u64, kind: u64| {
        wire()
            .number(8, time)
            .number(10, 1)
            .number(58, clock)
            .message(11, wire().number(9, kind).number(11, 1).bytes(23, "a"))
    };
    let packets = [
        thread(1, [10, 11], "main"),
        wire().number(10, 1).message(6, snapshot),
        on(3, 1_500, 1),
        on(3, 2_500, 2),
        // Counted from the last one, in microseconds.
        on(64, 3, 1),
        on(64, 4, 2),
        on(70, 1, 1),
    ];
    let linked = from(packets);
    let base = 1_700_000_000_000_000_000;
    assert_eq!(spans(&linked), [span("a", base + 5_500, 1_000), span("a", base + 8_000, 4_000)]);
    assert_eq!(warned(&linked, WarningKind::LostPacket), 1, "nobody says how clock 70 runs");
}

#[test]
fn counters_are_scaled_and_summed() {
    let counter = |uuid: u64, descriptor: Wire| {
        wire().message(60, wire().number(1, uuid).bytes(2, "memory").number(5, 9).message(8, descriptor))
    };
    let process = wire().message(60, wire().number(1, 9).message(3, wire().number(1, 10)));
    let value = |time: u64, uuid: u64, field: u32, number: u64| {
        let event = wire().number(9, 4).number(11, uuid);
        at(time).message(11, if field == 44 { event.fixed(44, number) } else { event.number(field, number) })
    };
    let linked = from([
        process,
        counter(2, wire().number(4, 1024)),
        counter(3, wire().number(5, 1)),
        value(1000, 2, 30, 3),
        value(2000, 3, 44, 1.5_f64.to_bits()),
        value(3000, 3, 44, 2.0_f64.to_bits()),
        begin(0, 7, "a"),
        end(9000, 7),
    ]);
    let values: Vec<_> = linked.trace.counters.iter().map(|row| (row.time.0, row.value)).collect();
    assert_eq!(values, [(1000, 3072.0), (2000, 1.5), (3000, 3.5)]);
}

#[test]
fn queues_and_stages_may_be_described_in_the_packet() {
    let named = |name: &str| wire().bytes(1, name);
    let specifications = wire().message(2, named("compute")).message(3, named("Fragment")).message(3, named("Kernel"));
    let stage = wire().number(2, 700).number(3, 0).number(4, 1).number(11, 2).message(7, specifications);
    let linked =
        from([at(1000).message(53, stage), at(5000).message(53, wire().number(2, 5).number(4, 0).number(11, 2))]);
    let found = rows(&linked, &["name", "category", "start_ns", "dur_ns", "device"], |_| true);
    let row = |cells: [&str; 5]| cells.map(String::from).to_vec();
    assert_eq!(found[0], row(["Kernel", "kernel", "1000", "700", "2"]));
    assert_eq!(found[1][..2], ["Fragment".to_owned(), "gpu_render_stage".to_owned()]);
}

#[test]
fn contents_that_are_not_read_are_counted() {
    let unknown = wire().number(8, 5).number(10, 1).bytes(1, "ftrace");
    let linked = from([thread(1, [10, 11], "main"), unknown.clone(), unknown, begin(0, 1, "a"), end(9, 1)]);
    let counts = linked.trace.header_value("perfetto_unread").unwrap();
    assert_eq!(counts, json!({"ftrace_events": 2}));
    let dropped = from([begin(0, 1, "a"), end(9, 1), wire().number(42, 1).number(10, 1)]);
    assert_eq!(warned(&dropped, WarningKind::LostPacket), 1);
}

#[test]
fn legacy_events_have_their_phases() {
    let event = |time: u64, phase: u8, more: Wire| {
        let legacy = more.number(2, u64::from(phase));
        at(time).message(11, wire().number(11, 1).bytes(23, "old").message(6, legacy))
    };
    let linked = from([
        thread(1, [10, 11], "main"),
        event(1000, b'X', wire().number(3, 7)),
        event(20_000, b'B', wire()),
        event(30_000, b'E', wire()),
        event(2000, b'b', wire()),
    ]);
    assert_eq!(spans(&linked), [span("old", 1000, 7000), span("old", 20_000, 10_000)]);
    assert_eq!(warned(&linked, WarningKind::LostPacket), 1, "asynchronous ranges are not read");
}

#[test]
fn any_cut_of_a_file_is_read_up_to_there() {
    let mut small = Vec::new();
    write_perfetto(&LinkedTrace::new(parsed(&files::bytes("hostile/kineto_trace_0.json.gz"))), &mut small).unwrap();
    small.truncate(6000);
    let mut before = 0;
    for size in 0..small.len() {
        let Ok(trace) = read([Input::new(&small[..size])], Limits::default()) else { continue };
        assert!(trace.events.len() + 1 >= before, "{size}");
        before = trace.events.len();
        let is_told = trace.warnings.iter().any(|warning| warning.kind == WarningKind::Truncated);
        let is_whole = file_ends_at(&small, size);
        assert_eq!(is_told, !is_whole, "{size}");
    }
    assert!(before > 10, "{before}");
}

/// Whether a packet ends at this byte.
fn file_ends_at(bytes: &[u8], size: usize) -> bool {
    let mut at = 0;
    while at < size {
        let (mut length, mut shift, mut next) = (0_usize, 0, at + 1);
        while let Some(byte) = bytes.get(next) {
            length |= usize::from(byte & 0x7f) << shift;
            (next, shift) = (next + 1, shift + 7);
            if byte & 0x80 == 0 {
                break;
            }
        }
        at = next + length;
    }
    at == size
}

#[test]
fn hostile_packets_do_no_harm() {
    let deep = (0..200).fold(wire().number(4, 1), |inner, _| wire().bytes(10, "k").message(11, inner));
    let event = wire().number(9, 1).number(11, 1).bytes(23, "\u{1f}\"").message(4, deep);
    let parents = [inside(1, 2, "a"), inside(2, 1, "b")];
    let huge = wire().number(8, u64::MAX).number(10, 1).message(11, wire().number(9, 1));
    let late =
        at(i64::MAX as u64).message(53, wire().number(2, u64::MAX).number(11, u64::MAX).number(1, 1).number(18, 1));
    let bytes = file(parents.into_iter().chain([at(5).message(11, event), end(9, 1), huge, late]));
    exercise(&bytes).unwrap();
    let mut seed = 1_u32;
    let whole = files::text("synthetic_perfetto/trace.pftrace");
    for _ in 0..300 {
        let mut damaged = whole.clone();
        for _ in 0..4 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = seed as usize % damaged.len();
            damaged[at] = (seed >> 24) as u8;
        }
        drop(exercise(&damaged));
    }
}

#[test]
fn work_that_only_a_call_refers_to_is_linked() {
    let stage = wire().number(1, 6).number(2, 50).number(11, 0).bytes(17, "kernel");
    let names = wire()
        .message(24, wire().number(1, 1).bytes(2, "Kernel").number(4, 2))
        .message(24, wire().number(1, 2).bytes(2, "[7] s"));
    let launch = wire().number(9, 1).number(11, 1).bytes(23, "cudaLaunchKernel").bytes(22, "cuda_runtime");
    let launch = launch.message(3000, wire().number(1, 6));
    let linked = from([
        thread(1, [10, 11], "main"),
        wire().number(10, 1).number(13, 1).message(12, names),
        at(1000).message(11, launch),
        end(2000, 1),
        at(3000).message(53, stage.number(13, 2).number(14, 1)),
    ]);
    let found = rows(&linked, &["kind", "launch_id"], |row| row[0] == EventKind::Kernel.name());
    assert_eq!(found.len(), 1);
    assert_ne!(found[0][1], "-");
}
