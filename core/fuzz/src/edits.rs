//! Edits a trace in every way, and links the results.

use std::sync::Arc;

use kinetoscope::analyze::verdict;
use kinetoscope::edit::{
    ExecutionEdit, Redaction, TrimExtent, communications, edit, redact, separate_devices, shrink, split, trim,
};
use kinetoscope::link::MergedRanks;
use kinetoscope::time::TimeRange;
use kinetoscope::{LinkedTrace, Trace, write_snapshot};

use super::writers::Write;

/// Makes all edits, and writes their results.
pub fn exercise(linked: &Arc<LinkedTrace>, write: Write) {
    let trace = &linked.trace;
    let expect_linkable = |trace| expect_linkable(trace, write);
    for (keeps_modules, is_strict) in [(false, false), (true, true)] {
        for redacted in redact([trace], Redaction { keeps_modules, is_strict }) {
            assert_eq!(redacted.events.start, trace.events.start);
            expect_linkable(redacted);
        }
    }
    let range = trace.range();
    let start = kinetoscope::time::Ts(range.start.0.midpoint(range.end.0));
    let part = trim(linked, TimeRange { start, end: range.end.max(start) });
    assert!(part.ids.is_sorted());
    let _ = TrimExtent::of(&part.trace);
    expect_linkable(part.trace);
    expect_linkable(communications(linked));
    if let Some(merged) = MergedRanks::of(linked) {
        split(linked, &merged).into_iter().for_each(|part| expect_linkable(part.trace));
        separate_devices(linked, &merged).into_iter().for_each(expect_linkable);
    }
    let size = write_snapshot(trace).map_or(0, |bytes| bytes.len());
    let shrunk = shrink(linked, &mut |trace| write_snapshot(trace).is_ok_and(|bytes| bytes.len() <= size / 2));
    shrunk.into_iter().for_each(expect_linkable);
    let _ = LinkedTrace::relink(trace.clone(), None);
    edit_nodes(linked).into_iter().for_each(expect_linkable);
}

fn edit_nodes(linked: &LinkedTrace) -> Vec<Trace> {
    let spans = linked.spans();
    let all = ExecutionEdit { spans: &spans, ..ExecutionEdit::default() };
    let first = linked.trace.nodes.first().map(|node| node.id);
    let edits = [
        ExecutionEdit { upgrade: true, anonymise: true, ..all },
        ExecutionEdit { iteration: spans.first().map(|span| span.iteration), subtree: first, ..all },
    ];
    edits.into_iter().filter_map(|wanted| edit(&linked.trace, wanted).ok()).collect()
}

/// The result of an edit links, and is judged and written as any trace.
fn expect_linkable(trace: Trace, write: Write) {
    let linked = Arc::new(LinkedTrace::new(trace));
    let _ = verdict(&linked);
    write(&linked);
}
