//! Tests the digest: its limit, its order, and text of hostile traces.

use std::collections::BTreeSet;
use std::sync::Arc;

use kinetoscope::view::{DigestForm, Session, digest_of_growth, digest_of_snapshot};
use kinetoscope::{Input, Limits, LinkedTrace, Recording, read, read_file};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::screen::ask;

fn linked(events: &[Value]) -> Arc<LinkedTrace> {
    let bytes = json!({"traceEvents": events}).to_string();
    Arc::new(LinkedTrace::new(read([Input::new(bytes.as_bytes())], Limits::default()).unwrap()))
}

/// Steps with an operator, a launch and a kernel each; names are given.
fn events(names: &[String]) -> Vec<Value> {
    let step = |(at, name): (usize, &String)| {
        let start = 100 * at as i64;
        let call = |category: &str, name: &str, start: i64, dur: i64| {
            json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 2, "ts": start, "dur": dur,
                   "args": {"correlation": at + 1}})
        };
        [
            call("user_annotation", &format!("ProfilerStep#{at}"), start, 99),
            call("cpu_op", name, start + 1, 20 + at as i64 % 7),
            call("cuda_runtime", "cudaLaunchKernel", start + 2, 5),
            json!({"ph": "X", "cat": "kernel", "name": format!("k {name}"), "pid": 0, "tid": 7, "ts": start + 20,
                   "dur": 30 + at as i64 % 11, "args": {"device": 0, "stream": 7, "correlation": at + 1}}),
        ]
    };
    names.iter().enumerate().flat_map(step).collect()
}

fn many() -> Vec<Value> {
    events(&(0..40).map(|number| format!("aten::op_{number}")).collect::<Vec<_>>())
}

fn session(events: &[Value]) -> Session {
    Session::new(linked(events))
}

fn digest(session: &Session, form: &str, max_chars: usize) -> String {
    let data = ask(session, &json!({"type": "digest", "form": form, "max_chars": max_chars}));
    data["text"].as_str().unwrap().to_owned()
}

/// Items of Markdown: entries of lists, and rows of tables.
fn lines(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| line.trim_start().starts_with(['-', '|'])).map(str::to_owned).collect()
}

/// Items of JSON, each with its block.
fn items(text: &str) -> BTreeSet<String> {
    let digest: Value = serde_json::from_str(text).unwrap();
    let mut found = BTreeSet::new();
    for section in digest["sections"].as_array().unwrap() {
        for block in section["blocks"].as_array().unwrap() {
            found.extend(block["items"].as_array().unwrap().iter().map(|item| format!("{} {item}", block["caption"])));
        }
    }
    found
}

#[test]
fn a_larger_limit_keeps_all_that_a_smaller_one_had() {
    let session = session(&many());
    for (form, found) in [("markdown", lines as fn(&str) -> _), ("json", items)] {
        let mut before = BTreeSet::new();
        for max_chars in (2_000..16_000).step_by(701) {
            let text = digest(&session, form, max_chars);
            assert!(text.chars().count() <= max_chars, "{form}: {} > {max_chars}", text.chars().count());
            let now = found(&text);
            assert!(before.is_subset(&now), "{form}, {max_chars}: {:?}", before.difference(&now).collect::<Vec<_>>());
            before = now;
        }
        assert!(before.len() > 40, "{before:?}");
    }
}

#[test]
fn the_same_trace_has_the_same_text() {
    let (one, other) = (session(&many()), session(&many()));
    for form in ["markdown", "json"] {
        assert_eq!(digest(&one, form, 8_000), digest(&other, form, 8_000));
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let session = session(&many());
    let (short, long) = (digest(&session, "markdown", 3_000), digest(&session, "markdown", 100_000));
    assert!(short.contains("Left out to fit 3,000 characters, by rows: "), "{short}");
    assert!(!long.contains("Left out"), "{long}");
    let short: Value = serde_json::from_str(&digest(&session, "json", 3_000)).unwrap();
    assert!(short["left_out"].as_object().unwrap().values().all(|count| count.as_u64() > Some(0)));
}

#[test]
fn a_limit_below_the_least_is_refused() {
    let session = session(&many());
    let answer = session.query(br#"{"type": "digest", "max_chars": 1999}"#);
    assert!(String::from_utf8_lossy(&answer).contains("expected max_chars of at least 2000"));
    let answer = session.query(br#"{"type": "digest", "form": "yaml", "max_chars": 9999}"#);
    assert!(String::from_utf8_lossy(&answer).contains("markdown or json"));
}

#[test]
fn numbers_of_an_incomplete_recording_say_so() {
    let mut events = many();
    // A launch without its kernel.
    events.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 150,
                       "dur": 3, "args": {"correlation": 999}}));
    let text = digest(&session(&events), "markdown", 20_000);
    assert!(text.contains("- incomplete · Incomplete recording"), "{text}");
    assert!(text.contains("recorded work only: the recording is incomplete"), "{text}");
    assert!(!digest(&session(&many()), "markdown", 20_000).contains("recorded work only"));
}

#[test]
fn a_comparison_tells_the_change_of_the_step() {
    let slower: Vec<_> = many()
        .into_iter()
        .map(|mut event| {
            let dur = event["dur"].as_i64().unwrap();
            event["dur"] = json!(if event["cat"] == "kernel" { dur + 20 } else { dur });
            event
        })
        .collect();
    let mut session = Session::default();
    session.add("before", None, linked(&many())).unwrap();
    session.add("after", None, linked(&slower)).unwrap();
    let data = ask(&session, &json!({"type": "digest", "max_chars": 8_000, "comparison": {}}));
    let text = data["text"].as_str().unwrap();
    assert!(text.starts_with("# Digest of a comparison"), "{text}");
    assert!(text.contains("`kinetoscope diff \"$BEFORE\" \"$AFTER\" --table diff_kernels`"), "{text}");
    assert!(text.contains("`k aten::op_0`"), "{text}");
}

#[test]
fn memory_snapshots_have_digests() {
    let read = |size: usize| {
        let json = format!(
            r#"{{"segments": [{{"device": 0, "address": 512, "total_size": {size}, "blocks": [
                {{"size": {size}, "state": "active_allocated", "requested_size": {size},
                  "frames": [{{"name": "f`\n# x", "filename": "a.py", "line": 1}}]}}]}}], "device_traces": []}}"#
        );
        let json = json.replace("`\n", "`\\n");
        let Recording::MemorySnapshot(snapshot) = read_file(Input::new(json.as_bytes()), Limits::default()).unwrap()
        else {
            panic!("expected a snapshot")
        };
        snapshot
    };
    let (before, after) = (read(2_048), read(4_096));
    let text = digest_of_snapshot(&before, DigestForm::Markdown, 4_000).unwrap();
    assert!(text.contains("2 KiB") && text.contains("kinetoscope analyze memory \"$TRACE\""), "{text}");
    let text = digest_of_growth([&before, &after], DigestForm::Markdown, 4_000).unwrap();
    assert!(text.contains("+2 KiB") && !text.contains("\n# x"), "{text}");
    assert!(digest_of_growth([&before, &after], DigestForm::Json, 10).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Lines of a digest begin as lists, tables, headings or captions do, whatever the names hold.
    #[test]
    fn names_cannot_leave_their_quotes(names in proptest::collection::vec("\\PC*|.*|`{1,3}|\\|[\n\u{202e}`| #-]*", 1..12)) {
        let text = digest(&session(&events(&names)), "markdown", 60_000);
        prop_assert!(text.chars().count() <= 60_000);
        for line in text.lines() {
            let is_known = ["# Digest", "## ", "**", "- ", "  - ", "| ", "Names and", "Left out"];
            prop_assert!(line.is_empty() || is_known.iter().any(|start| line.starts_with(start)), "{line:?}");
            prop_assert!(line.matches('`').count() % 2 == 0, "{line:?}");
        }
        let hidden = |char: char| char.is_control() && char != '\n' || ('\u{202a}'..='\u{202e}').contains(&char);
        prop_assert!(!text.contains(hidden));
        serde_json::from_str::<Value>(&digest(&session(&events(&names)), "json", 60_000)).unwrap();
    }
}
