//! Tests profiles of XLA in protobuf.

use kinetoscope::analyze::verdict;
use kinetoscope::trace::kind::EventKind;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, WarningKind, read};
use serde_json::json;

use crate::files;
use crate::hostile::exercise;
use crate::nsight::rows;
use crate::perfetto_packets::{Wire, wire};

const RECORDED: &str = "jax_cuda/recorder.xplane.pb.gz";
const CHROME: &str = "jax_cuda/recorder.trace.json.gz";

fn parsed(bytes: &[u8]) -> Trace {
    read([Input::new(bytes)], Limits::default()).unwrap()
}

/// Metadata of an event or a stat, by its number.
fn named(field: u32, id: u64, name: &str) -> impl FnOnce(Wire) -> Wire {
    move |plane| {
        let metadata = wire().number(1, id).bytes(2, name);
        plane.message(field, wire().number(1, id).message(2, metadata))
    }
}

fn event(id: u64, offset_ps: u64, duration_ps: u64) -> Wire {
    wire().number(1, id).number(2, offset_ps).number(3, duration_ps)
}

fn line(id: u64, name: &str, timestamp_ns: u64, events: impl IntoIterator<Item = Wire>) -> Wire {
    let head = wire().number(1, id).bytes(2, name).number(3, timestamp_ns);
    events.into_iter().fold(head, |line, event| line.message(4, event))
}

/// A plane whose names stand behind its lines, as the profiler writes it.
fn plane(name: &str, lines: impl IntoIterator<Item = Wire>, names: &[(u64, &str)]) -> Wire {
    let plane = lines.into_iter().fold(wire().bytes(2, name), |plane, line| plane.message(3, line));
    names.iter().fold(plane, |plane, (id, name)| named(4, *id, name)(plane))
}

fn space(planes: impl IntoIterator<Item = Wire>) -> Vec<u8> {
    planes.into_iter().fold(wire(), |space, plane| space.message(1, plane)).0
}

/// Names and times of the events.
fn spans(trace: &Trace) -> Vec<(String, i64, i64)> {
    let span =
        |row: usize| (trace.event_name(row).to_owned(), trace.events.start.at(row).0, trace.events.dur.at(row).0);
    (0..trace.events.len()).map(span).collect()
}

#[test]
fn both_files_of_a_recording_have_the_same_work_and_launches() {
    let of = |name: &str| LinkedTrace::new(parsed(&files::bytes(name)));
    let (profile, chrome) = (of(RECORDED), of(CHROME));
    let columns = ["kind", "name", "dur_ns", "device", "stream", "correlation_id"];
    let kinds = [EventKind::Kernel, EventKind::Launch, EventKind::Operator, EventKind::Python].map(EventKind::name);
    let told = |linked: &LinkedTrace| {
        let mut rows = rows(linked, &columns, |row| kinds.contains(&row[0].as_str()));
        rows.sort();
        rows
    };
    assert_eq!(told(&profile).len(), 88);
    assert_eq!(told(&profile), told(&chrome));
    let unlinked = rows(&profile, &["kind", "launch_id"], |row| row[0] == "kernel" && row[1] == "-");
    assert_eq!(unlinked.len(), 0);
    assert_eq!(profile.trace.other_tool(), chrome.trace.other_tool());
    assert_eq!(verdict(&profile).state, verdict(&chrome).state);
}

#[test]
fn a_profile_knows_when_and_on_which_device_it_ran() {
    let trace = parsed(&files::bytes(RECORDED));
    assert_eq!(trace.base_ns, 1_795_783_325_508_664_344);
    let first = trace.events.start.iter().min().unwrap();
    assert_eq!(first.0, trace.base_ns + 45_642);
    let devices = trace.header_value("deviceProperties").unwrap();
    assert_eq!((&devices[0]["name"], &devices[0]["numSms"]), (&json!("NVIDIA H200"), &json!(132)));
    let planes = &trace.header_value("xspace").unwrap()["planes"];
    assert_eq!(planes.as_array().unwrap().len(), 5);
    let text = format!("{:?}", trace.strings.iter().collect::<Vec<_>>());
    assert!(!text.contains("hostnames"), "names of hosts are private");
}

#[test]
fn starts_and_ends_are_rounded_to_nanoseconds() {
    let events = [event(1, 1499, 1), event(1, 1500, 499), event(2, 2000, 0), event(1, 1999, 3_000_001)];
    let trace = parsed(&space([plane("/host:CPU", [line(7, "main", 100, events)], &[(1, "a"), (2, "b")])]));
    let span = |name: &str, start, dur| (name.to_owned(), start, dur);
    assert_eq!(spans(&trace), [span("a", 101, 1), span("a", 102, 0), span("b", 102, 0), span("a", 102, 3000)]);
}

#[test]
fn names_and_stats_come_from_tables_behind_the_lines() {
    let stat = |id: u64| wire().number(1, id);
    let first = event(1, 0, 5000).message(4, stat(2).number(4, u64::MAX)).message(4, stat(1).bytes(5, "own \"text\""));
    let second = event(1, 9000, 1000)
        .message(4, stat(3).fixed(2, 1.5_f64.to_bits()))
        .message(4, stat(4).number(7, 5))
        .message(4, stat(5).bytes(6, [0xff, 0]))
        .message(4, stat(9).number(3, u64::MAX));
    let metadata = wire().bytes(2, "jit_step(1)").bytes(4, "step").message(5, stat(1).bytes(5, "shared"));
    let mut whole = wire().bytes(2, "/host:CPU").message(3, line(1, "main", 0, [first, second]));
    whole = whole.message(4, wire().number(1, 1).message(2, metadata));
    for (id, name) in [(1, "kind"), (2, "count"), (3, "share"), (4, "module"), (5, "jit_step")] {
        whole = named(5, id, name)(whole);
    }
    let linked = LinkedTrace::new(parsed(&space([whole])));
    let args = rows(&linked, &["name", "args"], |_| true);
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(args[0][0], "step");
    let first = json!({"long_name": "jit_step(1)", "count": -1, "kind": "own \"text\""});
    let second = json!({
        "long_name": "jit_step(1)", "kind": "shared", "share": 1.5, "module": "jit_step", "stat 9": u64::MAX,
    });
    assert_eq!(args.iter().map(|row| parsed(&row[1])).collect::<Vec<_>>(), [first, second]);
}

#[test]
fn the_profilers_errors_and_sums_without_a_time_are_told() {
    let sum = wire().number(1, 1).number(5, 40).number(3, 9);
    let timed = event(1, 0, 1000);
    let plane = plane("/device:TPU:1", [line(1, "XLA Ops", 5, [sum, timed])], &[(1, "fusion.1")]);
    let bytes = wire().message(1, plane).bytes(2, "no memory left").bytes(4, "someones-host").0;
    let trace = parsed(&bytes);
    assert_eq!(trace.events.len(), 1);
    assert_eq!(trace.events.kind[0], EventKind::Kernel);
    assert_eq!(trace.device(0), Some(1));
    assert_eq!(trace.header_value("xspace").unwrap()["events_without_time"], json!(1));
    let problems = verdict(&LinkedTrace::new(trace)).problems;
    assert!(problems.iter().any(|problem| problem.message.contains("no memory left")), "{problems:?}");
    let keeps = Limits { include_environment: true, ..Limits::default() };
    let whole = read([Input::new(&bytes)], keeps).unwrap();
    assert_eq!(whole.header_value("xspace").unwrap()["hostnames"], json!(["someones-host"]));
}

#[test]
fn a_plane_without_its_names_keeps_its_times() {
    let lines = [line(1, "Stream #1(Compute)", 5, [event(1, 0, 1000), event(2, 2000, 1000)])];
    let trace = parsed(&space([plane("/device:GPU:0", lines, &[(2, "gemm")])]));
    assert_eq!(spans(&trace), [("event 1".to_owned(), 5, 1), ("gemm".to_owned(), 7, 1)]);
    assert!(trace.events.kind.iter().eq(&[EventKind::Kernel; 2]));
    assert_eq!(trace.warnings.count(WarningKind::DamagedMessage), 1);
}

#[test]
fn any_cut_of_a_profile_is_read_up_to_there() {
    let events: Vec<_> = (0..20).map(|at| event(1, at * 1000, 500)).collect();
    let host = plane("/host:CPU", [line(1, "main", 5, events.clone())], &[(1, "call")]);
    let device = plane("/device:GPU:0", [line(2, "Stream #2", 5, events)], &[(1, "gemm")]);
    let bytes = wire().message(1, host).message(1, device).bytes(4, "host").0;
    let mut before = 0;
    for size in 30..=bytes.len() {
        let trace = parsed(&bytes[..size]);
        assert!(trace.events.len() >= before, "{size}: {} after {before}", trace.events.len());
        before = trace.events.len();
        let last = trace.warnings.count(WarningKind::Truncated);
        assert!(last <= 1 && trace.warnings.count(WarningKind::Truncated) == last, "{size}");
    }
    assert_eq!(before, 40);
    let cut = parsed(&bytes[..bytes.len() / 2]);
    assert_eq!(cut.warnings.count(WarningKind::Truncated), 1);
    assert!(cut.events.len() > 10);
}

#[test]
fn hostile_profiles_do_no_harm() {
    let names = [(1, "\u{1f}\""), (u64::MAX, "last")];
    let wild = line(u64::MAX, "x", u64::MAX, [event(1, i64::MAX as u64, i64::MAX as u64), event(7, u64::MAX, 1)]);
    exercise(&space([plane("/device:GPU:99999999999", [wild], &names)])).unwrap();
    let many = (0..500).fold(event(1, 0, 1), |event, at| event.message(4, wire().number(1, at).number(3, at)));
    exercise(&space([plane("/host:CPU", [line(1, "main", 1, [many])], &names)])).unwrap();
    // Tags without an end, lengths that no file has, and a group, which proto3 lacks.
    let start = space([plane("/host:CPU", [], &names)]);
    for tail in [&[0xff; 40][..], &[0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f], &[0x0b, 1, 2]] {
        let trace = parsed(&[&start[..], tail].concat());
        assert_eq!(trace.warnings.count(WarningKind::Truncated), 1, "{tail:?}");
    }
    let mut seed = 1_u32;
    let whole = files::text(RECORDED);
    for _ in 0..200 {
        let mut damaged = whole.clone();
        for _ in 0..4 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = seed as usize % damaged.len();
            damaged[at] = (seed >> 24) as u8;
        }
        drop(exercise(&damaged));
    }
}
