//! Sends the requests of the viewer and of the report.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::view::Session;
use serde_json::Value;

/// Requests with these values in the place of `ID` and `END`.
const REQUESTS: [&str; 17] = [
    r#"{"type":"overview"}"#,
    r#"{"type":"summary"}"#,
    r#"{"type":"summary","start":1,"end":END}"#,
    r#"{"type":"report","title":"t","facts":[["a","b"]]}"#,
    r#"{"type":"picture","width":300}"#,
    r#"{"type":"tiles","tracks":[0,1,2,3,4],"start":0,"end":END,"pixels":50}"#,
    r#"{"type":"tiles","tracks":[0,1],"start":1,"end":END,"pixels":3,"by":"operator","frames":false}"#,
    r#"{"type":"tiles","tracks":[0,1],"start":1,"end":END,"pixels":3,"by":"module"}"#,
    r#"{"type":"at","track":1,"lane":0,"time":ID,"tolerance":9}"#,
    r#"{"type":"gap","track":1,"time":ID}"#,
    r#"{"type":"search","text":"a","limit":5}"#,
    r#"{"type":"marks","text":"a","start":0,"end":END,"pixels":20}"#,
    r#"{"type":"path","start":0,"end":END,"pixels":20}"#,
    r#"{"type":"path","start":0,"end":END,"pixels":20,"through_job":true}"#,
    r#"{"type":"counter","counter":0,"start":0,"end":END,"pixels":20}"#,
    r#"{"type":"findings"}"#,
    r#"{"type":"changes"}"#,
];

/// Requests about one event.
const EVENT_REQUESTS: [&str; 4] = [
    r#"{"type":"event","id":ID}"#,
    r#"{"type":"links","id":ID}"#,
    r#"{"type":"neighbour","id":ID,"direction":"next"}"#,
    r#"{"type":"neighbour","id":ID,"direction":"parent","frames":false}"#,
];

/// Shows a trace alone, and beside itself as another rank.
pub fn exercise(linked: &Arc<LinkedTrace>) {
    let alone = Session::new(Arc::clone(linked));
    let mut both = Session::default();
    for rank in 0..2 {
        let _ = both.add(if rank == 0 { "" } else { "other" }, Some(rank), Arc::clone(linked));
    }
    let range = linked.trace.range();
    let end = (i128::from(range.end.0) - i128::from(range.start.0) + 1).to_string();
    let ids = &linked.trace.events.position;
    for session in [&alone, &both] {
        for request in REQUESTS {
            ask(session, request, "3", &end);
        }
        for id in ids.iter().take(3).chain(ids.last()) {
            EVENT_REQUESTS.iter().for_each(|request| ask(session, request, &id.to_string(), &end));
        }
    }
}

fn ask(session: &Session, request: &str, id: &str, end: &str) {
    let answer = session.query(request.replace("ID", id).replace("END", end).as_bytes());
    let (length, header) = answer.split_first_chunk().expect("a header");
    let header = &header[..u32::from_le_bytes(*length) as usize];
    assert!(serde_json::from_slice::<Value>(header).is_ok(), "the header of the answer to {request}");
}
