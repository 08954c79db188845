//! The body of a report, as hosts ask for it.

use std::sync::Arc;

use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

fn linked(events: &Value) -> Arc<LinkedTrace> {
    let bytes = json!({"traceEvents": events, "with_stack": 1}).to_string();
    Arc::new(LinkedTrace::new(read([Input::new(bytes.as_bytes())], Limits::default()).unwrap()))
}

fn html(session: &Session) -> String {
    let request = json!({"type": "report", "title": "a & b", "facts": [["file", "<x>.json"]]});
    let bytes = session.query(request.to_string().as_bytes());
    let end = 4 + u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[4..end]).unwrap();
    header["data"]["html"].as_str().unwrap().to_owned()
}

fn events() -> Value {
    json!([
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 2, "ts": 0, "dur": 100},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "pid": 1, "tid": 2, "ts": 100, "dur": 300},
        {"ph": "X", "cat": "kernel", "name": "void at::foo<int>(\"<b>\")", "pid": 0, "tid": 7, "ts": 10, "dur": 60,
         "args": {"device": 0, "stream": 7}},
        {"ph": "X", "cat": "kernel", "name": "void at::foo<int>(\"<b>\")", "pid": 0, "tid": 7, "ts": 110, "dur": 100,
         "args": {"device": 0, "stream": 7}},
    ])
}

#[test]
fn sections_lead_to_what_they_are_about() {
    let page = html(&Session::new(linked(&events())));
    assert!(page.contains("<h1 class=\"ks-title\">a &amp; b</h1>"));
    assert!(page.contains("&lt;x&gt;.json"), "facts of the host");
    assert!(page.contains("with_stack"), "options of the recording");
    assert!(page.contains("<b>foo</b> <small>void at::foo&lt;int&gt;(&quot;&lt;b&gt;&quot;)</small>"));
    assert!(page.contains("href=\"#event=3\""), "the longest run");
    assert!(page.contains("href=\"#range=100000-400000\""), "the slowest iteration");
    assert!(page.contains("slowest: 5"));
    assert!(!page.contains("<b>\")") && !page.contains(" style="));
}

#[test]
fn a_section_without_data_says_why() {
    let page = html(&Session::new(linked(&events())));
    let missing = &page[page.find("id=\"missing\"").unwrap()..];
    assert!(missing.contains("<dt>Memory</dt><dd>No allocation was recorded"));
    assert!(missing.contains("<dt>Modules</dt>"));
    assert!(!page.contains("id=\"communication\""), "of one trace without any, nobody asks");
    let empty = html(&Session::new(linked(&json!([]))));
    assert!(empty.contains("<dt>Iterations</dt>") && empty.contains("Nothing is wrong with the files"));
}

#[test]
fn ranks_of_a_job_are_told_apart() {
    let mut session = Session::default();
    session.add("", Some(0), linked(&events())).unwrap();
    session.add("", Some(3), linked(&events())).unwrap();
    let page = html(&session);
    assert!(page.contains(">rank 0, device 0</th>") || page.contains(">rank 0</th>"));
    assert!(page.contains(">rank 3, device 0</th>"));
    assert!(page.contains("href=\"#event=7\""), "ids of the second trace come after those of the first");
    assert!(page.contains("<dt>Stragglers</dt>"));
}
