//! Tests that the report of a job is the same from facts of its ranks as from their traces.

use kinetoscope::analyze::{RankedTrace, analysis};
use kinetoscope::view::{COMPARISONS, GatheredJob, Session, TraceFile, packed_facts};
use serde_json::{Value, json};

use crate::{stragglers, worker};

const REQUEST: &[u8] = br#"{"type": "report", "title": "a job", "facts": [["file", "a.json"]]}"#;

fn html(answer: &[u8]) -> String {
    let size = u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]) as usize;
    let header: Value = serde_json::from_slice(&answer[4..4 + size]).unwrap();
    assert_eq!(header["ok"], json!(true), "{header}");
    header["data"]["html"].as_str().unwrap().to_owned()
}

fn gathered(traces: &[RankedTrace]) -> GatheredJob {
    let facts: Vec<_> = traces.iter().map(|(rank, linked)| (*rank, packed_facts(linked).unwrap())).collect();
    let files = traces.iter().map(|(rank, _)| TraceFile {
        name: format!("<{}>.json", rank.unwrap()),
        address: if *rank == Some(1) { String::from("one.json") } else { String::new() },
    });
    let compared =
        COMPARISONS.iter().map(|asked| (*asked, worker::compared(analysis(asked.0).unwrap(), traces, asked.1)));
    GatheredJob::of(&facts, files.collect(), compared.collect()).unwrap()
}

fn session(traces: &[RankedTrace]) -> Session {
    let mut session = Session::default();
    for (rank, linked) in traces {
        session.add("", *rank, linked.clone()).unwrap();
    }
    session
}

/// The page without what a page of all traces has beside: buttons that save, and notes on files.
fn without_saving(page: &str) -> String {
    let mut page = page.to_owned();
    while let Some(start) = page.find(" data-analysis=\"") {
        let end = page[start..].find('>').unwrap() + start;
        page.replace_range(start..end, "");
    }
    page
}

#[test]
fn a_page_from_facts_equals_one_from_traces() {
    let traces = stragglers::job(30, &[], &[]);
    let session = session(&traces);
    let whole = without_saving(&html(&session.query(REQUEST)));
    let page = html(&session.report_of_job(&gathered(&traces), REQUEST));
    let start = page.find("<p class=\"ks-note\">Timelines of ").unwrap();
    let end = page[start..].find("</details>").unwrap() + start + "</details>".len();
    let note = page[start..end].to_owned();
    assert!(note.contains("&lt;0&gt;.json") && note.contains("<a href=\"one.json\">&lt;1&gt;.json</a>"), "{note}");
    let page = without_saving(&(page[..start].to_owned() + &page[end..]));
    let differs = page.bytes().zip(whole.bytes()).position(|(a, b)| a != b);
    assert_eq!(differs.map(|at| (&page[at.saturating_sub(200)..at], &whole[at.saturating_sub(200)..at])), None);
    assert_eq!(page.len(), whole.len());
}

#[test]
fn the_late_rank_is_on_the_timeline() {
    let traces = stragglers::job(30, &[], &[]);
    let job = gathered(&traces);
    let shown = job.shown_ranks();
    let late = shown.iter().find(|one| one.reasons.contains(&"most waited for")).unwrap();
    assert_eq!(traces[late.at].0, Some(late.rank));
    let few: Vec<_> = shown.iter().map(|one| traces[one.at].clone()).collect();
    let page = html(&session(&few).report_of_job(&job, REQUEST));
    assert!(page.contains(&format!("Timelines of {} of {} traces", shown.len(), traces.len())), "{page}");
    assert!(!page.contains("data-analysis"), "tables of ranks that the page lacks cannot be saved");
    assert!(!job.is_trimmed());
}
