//! Tests the body of a report.

use std::sync::Arc;

use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

use crate::screen::ask;

fn linked(events: &Value) -> Arc<LinkedTrace> {
    read_text(&json!({"traceEvents": events, "with_stack": 1}))
}

fn read_text(json: &Value) -> Arc<LinkedTrace> {
    let bytes = json.to_string();
    Arc::new(LinkedTrace::new(read([Input::new(bytes.as_bytes())], Limits::default()).unwrap()))
}

fn html(session: &Session) -> String {
    asked(session, &json!({}))
}

fn asked(session: &Session, more: &Value) -> String {
    let mut request = json!({"type": "report", "title": "a & b", "facts": [["file", "<x>.json"]]});
    more.as_object().unwrap().iter().for_each(|(key, value)| request[key] = value.clone());
    let bytes = session.query(request.to_string().as_bytes());
    let end = 4 + u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[4..end]).unwrap();
    let page = header["data"]["html"].as_str().unwrap().to_owned();
    assert!(!page.contains("analysis failed"), "{page}");
    page
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
    assert!(page.contains("with_stack=True"), "options of the recording, as they are typed");
    assert!(page.contains("<b>foo</b> <small>void at::foo&lt;int&gt;(&quot;&lt;b&gt;&quot;)</small>"));
    assert!(page.contains("href=\"#event=3\""), "the longest run");
    assert!(page.contains("href=\"#range=100000-400000\""), "the slowest iteration");
    assert!(page.contains("slowest: 5"));
    assert!(!page.contains("<b>\")") && !page.contains(" style="));
}

#[test]
fn a_flame_graph_says_how_many_calls_lost_their_work() {
    let launch = |at: i64, id: i64| {
        json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": at, "dur": 5,
               "args": {"correlation": id}})
    };
    let kernel = json!({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 60,
                        "args": {"device": 0, "stream": 7, "correlation": 1}});
    let page = |events: &[Value]| html(&Session::new(linked(&json!(events))));
    let whole = page(&[launch(0, 1), kernel.clone()]);
    assert!(whole.contains("id=\"flame\"") && !whole.contains("of unknown time"));
    assert!(page(&[launch(0, 1), kernel.clone(), launch(10, 2)]).contains("without 1 call of unknown time"));
    assert!(page(&[launch(0, 1), kernel, launch(10, 2), launch(15, 3)]).contains("without 2 calls of unknown time"));
}

#[test]
fn iterations_without_device_work_are_not_said_to_be_unmarked() {
    let step = |number: u32, ts: u32| {
        json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{number}"), "pid": 1, "tid": 2,
               "ts": ts, "dur": 100})
    };
    let operator = json!({"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 110, "dur": 9});
    let page = html(&Session::new(linked(&json!([step(4, 0), step(5, 100), operator]))));
    assert!(page.contains("mean of 2 iterations"));
    assert!(page.contains("No device work was recorded") && !page.contains("No iteration is marked"), "{page}");
    let page = html(&Session::new(linked(&json!([operator]))));
    assert!(page.contains("No iteration is marked; call `prof.step()`") && !page.contains("mean of"), "{page}");
}

#[test]
fn a_range_of_a_job_names_its_trace() {
    let mut session = Session::default();
    for rank in [0, 1] {
        session.add("", Some(rank), linked(&events())).unwrap();
    }
    let page = html(&session);
    assert!(["0", "1"].iter().all(|part| page.contains(&format!("href=\"#range=100000-400000&amp;part={part}\""))));
}

/// Sections read all their tables before they look at rows: a table that an analysis lacks fails
/// here, whatever the traces hold.
#[test]
fn every_table_of_a_section_exists() {
    let empty = || linked(&json!([]));
    assert!(html(&Session::new(empty())).contains("ks-missing"));
    assert!(job(&[empty(), empty()]).contains("ks-missing"));
}

#[test]
fn a_section_without_data_says_why() {
    let page = html(&Session::new(linked(&events())));
    let missing = &page[page.find("id=\"missing\"").unwrap()..];
    assert!(missing.contains("<dt>Memory</dt><dd>No allocation was recorded"));
    assert!(missing.contains("<dt>Modules</dt>"));
    assert!(!page.contains("id=\"communication\""), "of one trace without any, nobody asks");
    let empty = html(&Session::new(linked(&json!([]))));
    assert!(empty.contains("<dt>Iterations</dt>") && empty.contains("No defects found"));
}

#[test]
fn kernels_that_were_launched_and_not_recorded_are_missed() {
    let call =
        |name: &str| json!({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 2, "ts": 0, "dur": 5});
    let why = |name: &str| html(&Session::new(linked(&json!([call(name)]))));
    assert!(
        why("cudaLaunchKernel").contains("<dt>Kernels</dt><dd>Device work ran, but the file has none of its records")
    );
    assert!(why("cudaEventRecord").contains("<dt>Kernels</dt><dd>No kernel, copy or fill was recorded"));
}

/// An operator of an iteration, with its shapes, and the kernel that it launches.
fn computing(name: &str, shapes: &Value, types: &Value) -> Value {
    let args = json!({"Input Dims": shapes, "Input type": types});
    let launched = json!({"correlation": 1, "device": 0, "stream": 7});
    json!([
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 2, "ts": 0, "dur": 100},
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 2, "ts": 10, "dur": 20, "args": args},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 15, "dur": 5, "args": launched},
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 40, "dur": 20, "args": launched},
    ])
}

#[test]
fn the_roofline_is_drawn_of_what_computes() {
    let page = |name: &str, shapes: Value, types: Value| html(&Session::new(linked(&computing(name, &shapes, &types))));
    let product = page("aten::mm", json!([[64, 32], [32, 16]]), json!(["float", "float"]));
    let section = &product[product.find("id=\"roofline\"").unwrap()..];
    assert!(section.contains("<circle"));
    assert!(section.contains("Operations by iteration") && !section.contains("MFU"), "of no known device");
    let events = computing("aten::mm", &json!([[64, 32], [32, 16]]), &json!(["float", "float"]));
    let devices = json!([{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]);
    let known = html(&Session::new(read_text(&json!({"deviceProperties": devices, "traceEvents": events}))));
    assert!(known.contains("Model FLOP utilisation (MFU) by iteration"));
    assert!(known.contains("peaks of H100 SXM: 3,350 GB/s"));
    let fill = page("aten::fill_", json!([[64, 32], []]), json!(["float", "Scalar"]));
    let section = &fill[fill.find("id=\"roofline\"").unwrap()..];
    assert!(!section.contains("<circle") && section.contains("aten::fill_"), "nothing has a place on it");
}

#[test]
fn times_of_a_table_share_a_unit_and_keep_three_digits() {
    let kernel = |name: &str, ts: f64, dur: f64| {
        json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
               "args": {"device": 0, "stream": 7}})
    };
    let events =
        json!([kernel("long", 0.0, 52_345.678), kernel("short", 60_000.0, 1.184), kernel("short", 70_000.0, 2.5)]);
    let page = html(&Session::new(linked(&events)));
    let table = page.split("data-table=\"kernels\"").nth(1).unwrap().split("</table>").next().unwrap();
    let pad = |words: &str, missing: usize| format!(">{words}{}<", "\u{2007}".repeat(missing));
    assert!(table.contains(&pad("52.346", 2)), "padded to the decimals of the shortest: {table}");
    assert!(table.contains(&pad("0.00368", 0)), "the total of the short one: {table}");
    assert!(table.contains(&pad("0.00118", 0)), "its shortest run: {table}");
    assert!(table.contains("total <i>ms</i>") && !table.contains("µs"), "{table}");
    assert_eq!(table.matches("aria-sort").count(), 1, "one column is marked as the order: {table}");
}

#[test]
fn ranks_of_a_job_are_told_apart() {
    let mut session = Session::default();
    session.add("", Some(0), linked(&events())).unwrap();
    let mut longer = events();
    longer[3]["dur"] = json!(120);
    session.add("", Some(3), linked(&longer)).unwrap();
    let page = html(&session);
    assert!(page.contains(">rank 0, device 0</th>") || page.contains(">rank 0</th>"));
    assert!(page.contains(">rank 3, device 0</th>"));
    assert!(page.contains("href=\"#event=7\""), "ids of the second trace come after those of the first");
    assert!(page.contains("<dt>Stragglers</dt>"));
}

#[test]
fn what_is_not_as_it_was_recorded_is_said() {
    let session = Session::new(linked(&events()));
    assert!(!html(&session).contains("ks-edited"));
    let small = asked(&session, &json!({"left_out": {"shrunk_frame": 1200, "shrunk_node": 0, "missing_launch": 3}}));
    assert!(small.contains("<b>Shrunk</b>: removed 1,200 Python frames. The tables describe the whole"));
}

#[test]
fn a_part_is_reported_as_the_range_that_it_was_trimmed_to() {
    let session = Session::new(linked(&events()));
    let part = |request: &Value| session.copy(request.to_string().as_bytes()).unwrap();
    let once = part(&json!({"start": 150_000, "end": 300_000}));
    let page = html(&once);
    let words = "<b>Trimmed</b>: 150 µs of 400 µs, starting at 150 µs, without ";
    assert!(page.contains(words), "{page}");
    assert!(page.contains("All numbers describe this range"));
    assert!(page.contains("<dt>device 0 busy</dt><dd>40 %</dd>"), "60 of 150 µs, and not of the iteration around them");
    // The iteration begins 50 µs before the range; beside it, whatever begins earlier still.
    let overview = |session: &Session| ask(session, &json!({"type": "overview"}));
    let (copied, whole) = (overview(&once), overview(&session));
    let origin = |overview: &Value| overview["origin_ns"].as_str().unwrap().parse::<f64>().unwrap();
    let start = 150_000.0 + origin(&whole) - origin(&copied);
    assert_eq!(copied["trimmed"], json!({"start": start, "end": start + 150_000.0}));
    assert_eq!(whole["trimmed"], Value::Null);
    let twice = once.copy(json!({"start": start + 50_000.0, "end": start + 900_000.0}).to_string().as_bytes()).unwrap();
    assert!(html(&twice).contains("<b>Trimmed</b>: 100 µs of 400 µs, starting at 200 µs"));
    let table = ask(&once, &json!({"type": "analyze", "name": "kernels", "trimmed": true}))["tables"][0].clone();
    let total = table["columns"].as_array().unwrap().iter().position(|column| column["name"] == "total_ns").unwrap();
    assert_eq!(table["rows"][0][total], 60_000, "what is saved of the page is what it shows");
}

#[test]
fn a_header_that_says_what_no_trimming_does_is_passed_over() {
    for range in [json!({"start_ns": 9, "end_ns": "x"}), json!({"start_ns": i64::MAX, "end_ns": i64::MIN}), json!([1])]
    {
        let mut edit = json!({"edit": "trim", "whole_start_ns": i64::MIN, "whole_end_ns": i64::MAX});
        if let Some(range) = range.as_object() {
            edit.as_object_mut().unwrap().extend(range.clone());
        }
        let all = json!([edit, {"edit": "trim", "start_ns": 0, "end_ns": i64::MAX}, 3]);
        let text = json!({"traceEvents": events(), "kinetoscope_edits": all});
        assert!(html(&Session::new(read_text(&text))).contains("ks-title"));
    }
}

/// A trace of a rank: iterations that end after so many microseconds each, with a kernel in each,
/// and a communication.
fn rank(ends: &[u64]) -> Arc<LinkedTrace> {
    let mut events = Vec::new();
    let mut from = 0;
    for (at, us) in ends.iter().enumerate() {
        let event = |cat: &str, name: &str, ts: u64, dur: u64| {
            let (pid, tid) = if cat == "kernel" { (0, 7) } else { (1, 2) };
            json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
                   "args": {"device": 0, "stream": 7}})
        };
        events.push(event("user_annotation", &format!("ProfilerStep#{at}"), from, *us));
        events.push(event("kernel", "gemm", from + 1, 2));
        events.push(event("kernel", "ncclDevKernel_AllReduce", from + us - 2, 1));
        from += us;
    }
    linked(&json!(events))
}

fn job(ranks: &[Arc<LinkedTrace>]) -> String {
    let mut session = Session::default();
    for (at, trace) in ranks.iter().enumerate() {
        session.add("", Some(at as i64), Arc::clone(trace)).unwrap();
    }
    html(&session)
}

#[test]
fn the_slowest_of_very_many_iterations_is_the_slowest() {
    let usual = vec![10; 300];
    let mut slow = usual.clone();
    slow[299] = 500;
    let page = job(&[rank(&usual), rank(&slow)]);
    assert!(page.contains("slowest: 299 on rank 1"));
    assert!(
        page.contains("each bar is the longest of 3") && page.contains("iteration 299, rank 1"),
        "the chart has the slowest, too"
    );
    assert!(page.contains("Device time by iteration <small>the top 240 of 600</small>"));
    let table = &page[page.find("Device time by iteration").unwrap()..];
    let first = &table[table.find("<tbody>").unwrap()..];
    assert!(
        first.starts_with("<tbody><tr><td class=\"ks-number\">299</td><td class=\"ks-number\">1</td>"),
        "the slowest"
    );
}

#[test]
fn pillars_of_one_iteration_are_those_of_ranks() {
    let page = job(&[rank(&[20]), rank(&[30])]);
    assert!(page.contains(">rank 0</text>") && page.contains(">rank 1</text>"));
}

#[test]
fn a_name_of_a_job_is_one_row() {
    let page = job(&[rank(&[20, 30]), rank(&[30])]);
    let kernels = &page[page.find("id=\"kernels\"").unwrap()..];
    let table = &kernels[..kernels.find("</table>").unwrap()];
    assert!(table.contains("all ranks <small>2 rows</small>"));
    let gemm = &table[table.find("<b>gemm</b>").unwrap()..];
    let row = &gemm[..gemm.find("</tr>").unwrap()];
    // Six microseconds in three runs, two of one rank and four of the other.
    for cell in ["66.7", ">6<", ">3<", ">2<", ">4<"] {
        assert!(row.contains(cell), "{cell} in {row}");
    }
}

#[test]
fn gaps_that_a_communication_ends_are_not_those_to_look_at() {
    let page = html(&Session::new(rank(&[20, 30])));
    let gaps = &page[page.find("Longest gaps").unwrap()..];
    assert!(gaps.starts_with("Longest gaps before computation"));
    assert!(gaps[..gaps.find("</table>").unwrap()].contains("<small>1 row</small>"), "of three gaps, two end so");
}

#[test]
fn all_bars_can_be_scrolled_to_and_saved() {
    let page = html(&Session::new(linked(&events())));
    let time = &page[page.find("id=\"time\"").unwrap()..];
    assert!(
        time[..time.find("<thead>").unwrap()]
            .ends_with("tabindex=\"0\"><table><caption>Device time by device</caption>")
    );
    let many = job(&(0..5).map(|_| rank(&[20])).collect::<Vec<_>>());
    assert!(many.contains("<table class=\"ks-many\">"));
}
