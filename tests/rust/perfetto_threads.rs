//! Tests that traces of Perfetto are the same whether one thread reads them or two.

use std::io::{Error, ErrorKind};

use kinetoscope::{Input, Limits, LinkedTrace, read};

use crate::files;
use crate::nsight::rows;

const COLUMNS: [&str; 8] = ["name", "category", "kind", "start_ns", "dur_ns", "stream", "correlation_id", "grid"];

fn with(max_threads: usize) -> Limits {
    Limits { max_threads, ..Limits::default() }
}

/// All that a reader makes of a file: its events, counters and warnings; or its error.
fn told(input: Input<'_>, max_threads: usize) -> Result<Vec<String>, String> {
    let trace = read([input], with(max_threads)).map_err(|error| error.to_string())?;
    let linked = LinkedTrace::with_threads(trace, max_threads);
    let mut all: Vec<String> = rows(&linked, &COLUMNS, |_| true).into_iter().map(|row| row.join(" ")).collect();
    all.extend(linked.trace.counters.iter().map(|counter| format!("{counter:?}")));
    all.extend(linked.trace.flows.iter().map(|flow| format!("{flow:?}")));
    all.extend(linked.warnings().map(|warning| format!("{warning:?}")));
    Ok(all)
}

/// A recording over and over: several batches of packets.
fn long() -> Vec<u8> {
    files::text("synthetic_perfetto/trace.pftrace").repeat(200)
}

#[test]
fn two_threads_read_the_same_as_one() {
    let bytes = long();
    for size in [bytes.len(), bytes.len() - 1, bytes.len() / 2 + 7, bytes.len() / 3, 1000, 1, 0] {
        let bytes = &bytes[..size];
        let one = told(Input::new(bytes), 1);
        assert_eq!(one, told(Input::new(bytes), 2), "{size} bytes in memory");
        assert_eq!(one, told(Input::stream(bytes), 2), "{size} bytes of a stream");
    }
}

#[test]
fn whoever_waits_may_end_the_reading() {
    let bytes = long();
    for max_threads in [1, 2] {
        let stop = |_| Err(Error::new(ErrorKind::Interrupted, "no longer wanted"));
        let input = Input { watch: Some(Box::new(stop)), ..Input::new(&bytes) };
        assert!(told(input, max_threads).unwrap_err().contains("no longer wanted"));
    }
}
