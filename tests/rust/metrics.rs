//! Tests sampled metrics as counters of a trace.

use kinetoscope::edit::{Redaction, redact};
use kinetoscope::{Error, Input, Limits, Trace, read, read_file};

const TRACE: &str = r#"{"baseTimeNanoseconds": 1000000, "traceEvents": [
    {"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 100, "dur": 10},
    {"ph": "C", "name": "own", "pid": 1, "tid": 2, "ts": 101.5, "args": {"n": 1}},
    {"ph": "X", "name": "b", "pid": 1, "tid": 2, "ts": 140, "dur": 10}]}"#;

const METRICS: &str = r#"{"kinetoscope_metrics": 1, "rank": 0}
{"ph":"C","name":"GPU 0","pid":"metrics","tid":0,"ts":1000.5,"args":{"power_w":100.0,"memory_used_bytes":7}}
{"ph":"C","name":"host","pid":"metrics","tid":0,"ts":1001.000,"args":{"cpu_share":0.5}}
{"ph":"C","name":"GPU 0","pid":"metrics","tid":0,"ts":1099.999,"args":{"power_w":200.5,"memory_used_bytes":8}}
{"ph":"C","name":"GPU 0","pid":"metrics","tid":0,"ts":1120.001,"args":{"power_w":300.0,"memory_used_bytes":9}}
{"iteration":3,"start_ns":1100000,"end_ns":1150000,"energy_j":{"GPU 0":0.5}}
{"ph":"C","name":"GPU 0","pid":"metrics","tid":0,"ts":1150.001,"args":{"power_w":400.0,"memory_used_bytes":9}}
{"ph":"C","name":"GPU 0","pid":"met"#;

fn both(metrics: &str) -> Result<Trace, Error> {
    read([Input::new(TRACE.as_bytes()), Input::new(metrics.as_bytes())], Limits::default())
}

/// Position, nanoseconds, name, series and value of each counter.
fn counters(trace: &Trace) -> Vec<(u32, i64, &str, &str, f64)> {
    let text = |id| trace.strings.text(id);
    trace.counters.iter().map(|row| (row.position, row.time.0, text(row.name), text(row.series), row.value)).collect()
}

#[test]
fn samples_within_the_trace_are_its_counters_and_what_held_before_stands_at_its_start() {
    let trace = both(METRICS).unwrap();
    let expected = [
        (1, 1_101_500, "own", "n", 1.0),
        (3, 1_100_000, "GPU 0", "power_w", 200.5),
        (3, 1_100_000, "GPU 0", "memory_used_bytes", 8.0),
        (4, 1_100_000, "host", "cpu_share", 0.5),
        (5, 1_120_001, "GPU 0", "power_w", 300.0),
        (5, 1_120_001, "GPU 0", "memory_used_bytes", 9.0),
    ];
    assert_eq!(counters(&trace), expected);
    assert_eq!((trace.range().start.0, trace.range().end.0), (1_100_000, 1_150_000));
}

#[test]
fn a_line_that_was_cut_off_is_counted() {
    let warned = |metrics: &str| both(metrics).unwrap().warnings.iter().map(|warning| warning.count).sum::<u64>();
    assert_eq!(warned(METRICS), 1);
    assert_eq!(warned(METRICS.rsplit_once('\n').unwrap().0), 0);
}

#[test]
fn a_trace_stays_coarse_though_its_metrics_are_not() {
    let whole = TRACE.replace("101.5", "101");
    let trace = read([Input::new(whole.as_bytes()), Input::new(METRICS.as_bytes())], Limits::default()).unwrap();
    assert!(trace.has_coarse_times);
    assert!(trace.counters.iter().all(|row| row.time.0 % 1000 == 0));
}

#[test]
fn the_order_of_the_files_does_not_matter() {
    let inputs = [Input::new(METRICS.as_bytes()), Input::new(TRACE.as_bytes())];
    let trace = read(inputs, Limits::default()).unwrap();
    assert_eq!(counters(&trace), counters(&both(METRICS).unwrap()));
}

#[test]
fn metrics_alone_are_no_trace() {
    let expected = "expected a trace, found sampled metrics of ks.profile (read the trace beside them, or the folder with ks.read_dir)";
    let error = read([Input::new(METRICS.as_bytes())], Limits::default()).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    let error = read_file(Input::new(METRICS.as_bytes()), Limits::default()).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn whatever_stands_in_the_lines_it_is_survived() {
    for line in ["", "[", "{}", "1", r#"{"ph":"C"}"#, r#"{"ph":"C","ts":"x"}"#, r#"{"ph":"C","ts":1e300,"args":3}"#] {
        let trace = both(&format!("{}\n{line}\n", r#"{"kinetoscope_metrics": 1}"#)).unwrap();
        assert!(trace.counters.len() <= 2, "{line}");
    }
}

#[test]
fn what_is_written_has_them_too() {
    let mut text = Vec::new();
    let trace = both(METRICS).unwrap();
    kinetoscope::write::chrome::write_chrome(&trace, &mut text).unwrap();
    let again = read([Input::new(&text)], Limits::default()).unwrap();
    assert_eq!(counters(&again), counters(&trace));
}

#[test]
fn names_of_what_is_measured_say_nothing_private() {
    let trace = both(METRICS).unwrap();
    assert_eq!(counters(&redact([&trace], Redaction::default())[0])[1..], counters(&trace)[1..]);
}
