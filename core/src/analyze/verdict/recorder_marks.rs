//! Reads what the recorder itself says about its recording: dropped records, an early stop, errors.
//!
//! Kineto writes its log into the header of a file, under `INFO`, `WARNING` and `ERROR`.

use super::problem::{Problem, VerdictState};
use crate::trace::Trace;
use crate::trace::args::plain_text;

/// Log lines are quoted up to here.
const MAX_QUOTED: usize = 160;

/// Header keys of the recorder's log, one a level.
const LOG_KEYS: [&str; 6] = ["VERBOSE", "INFO", "WARNING", "ERROR", "STATUS", "STAGE"];

/// A mark of the recorder: the words that it has, and the problem that it means.
struct RecorderMark {
    name: &'static str,
    state: VerdictState,
    message: &'static str,
    advice: &'static str,
    /// How often, by a log line or a header value; 0 for none.
    count: fn(&str) -> u64,
}

const MARKS: [RecorderMark; 5] = [
    RecorderMark {
        name: "no_device_tracing",
        state: VerdictState::Incomplete,
        message: "the recorder says that device tracing could not start",
        advice: "allow access to the device's counters, stop other profilers, and record again",
        count: misses_device,
    },
    RecorderMark {
        name: "recording_stopped",
        state: VerdictState::Incomplete,
        message: "the recorder says that device tracing stopped early",
        advice: "record a shorter window, or enlarge the profiler's device buffer",
        count: stops,
    },
    RecorderMark {
        name: "dropped_records",
        state: VerdictState::Incomplete,
        message: "the recorder says that device records were dropped",
        advice: "record a shorter window, or enlarge the profiler's device buffer",
        count: dropped,
    },
    RecorderMark {
        // Warm-up always leaves some: what the window itself lacks shows as lost work.
        name: "out_of_range_records",
        state: VerdictState::Complete,
        message: "the recorder says that records outside its time window were left out",
        advice: "synchronize the device before the profiler starts and stops",
        count: |line| number_after(line, "out-of-range ="),
    },
    RecorderMark {
        name: "recorder_error",
        state: VerdictState::Complete,
        message: "the recorder logged an error",
        advice: "",
        count: |line| u64::from(line.starts_with("error:")),
    },
];

pub(super) fn problems(trace: &Trace) -> Vec<Problem> {
    let lines: Vec<(String, String)> = header_lines(trace).chain(event_names(trace)).collect();
    let problem = |mark: &RecorderMark| {
        let counts = lines.iter().map(|(line, lower)| (line, (mark.count)(lower))).filter(|(_, count)| *count > 0);
        let counts: Vec<_> = counts.collect();
        let (line, _) = counts.first()?;
        let quoted: String = line.chars().take(MAX_QUOTED).collect();
        let count = counts.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        let message = format!("{}: \"{quoted}\"", mark.message);
        Some(Problem::new(mark.name, mark.state, count as usize, message).advised(mark.advice))
    };
    MARKS.iter().filter_map(problem).collect()
}

/// The lines of the header, as `key value` for values that are no lists, and in lower case.
fn header_lines(trace: &Trace) -> impl Iterator<Item = (String, String)> + '_ {
    // Other metadata is the user's.
    let texts = |key: &str, json: &str| -> Vec<String> {
        match serde_json::from_str::<Vec<String>>(json) {
            Ok(lines) if LOG_KEYS.contains(&key) => lines,
            Ok(_) => Vec::new(),
            Err(_) => vec![format!("{key} {}", plain_text(json))],
        }
    };
    let lines =
        trace.header.iter().flat_map(move |(key, value)| texts(trace.strings.text(*key), trace.strings.text(*value)));
    lines.map(|line| {
        let lower = line.to_lowercase();
        (line, lower)
    })
}

/// Names that the recorder gives to marks in the trace itself.
fn event_names(trace: &Trace) -> impl Iterator<Item = (String, String)> + '_ {
    let names = trace.strings.iter().filter(|text| text.contains("DEVICE_STOPPED"));
    names.map(|text| (text.to_owned(), text.to_lowercase()))
}

fn stops(line: &str) -> u64 {
    let words = ["device_stopped", "stopped early? = 1", "stopped early? = true", "terminating tracing"];
    u64::from(words.iter().any(|word| line.contains(word)))
}

/// `CUPTI initialization failed - CUDA profiler activities will be missing`, `Failed to initialize
/// roctracer`.
fn misses_device(line: &str) -> u64 {
    let is_tracer = ["cupti", "roctracer", "rocprofiler", "xpti", "pti ", "gpu trac", "device trac"];
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    let is_failure = has(&["initialization failed", "failed to initialize", "activities will be missing"]);
    u64::from(is_failure && (has(&is_tracer) || line.contains("activities")))
}

/// `dropped 12 records`, `12 records were dropped`, `dropped_records 12`.
fn dropped(line: &str) -> u64 {
    let Some(at) = line.find("dropped").filter(|_| line.contains("record")) else { return 0 };
    let (before, after) = line.split_at(at);
    let numbers = |text: &str| -> Vec<u64> {
        text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    };
    // Before the word, only the last number may be the count: a log line begins with its time.
    let after = numbers(after).first().copied();
    let words: Vec<_> = before.split_whitespace().rev().take(4).collect();
    let before = words.iter().find_map(|word| word.parse().ok());
    after.or(before).unwrap_or(0)
}

/// The number that follows a text.
fn number_after(line: &str, text: &str) -> u64 {
    let rest = line.split_once(text).map_or("", |(_, rest)| rest.trim_start());
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
