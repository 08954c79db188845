//! Finds captures of graphs: calls that enqueue work while a stream is captured.

use rustc_hash::FxHashMap;

use super::launch_view::LaunchView;
use crate::id::StrId;
use crate::link::launch_index::is_launch;
use crate::strings::TextCache;
use crate::time::Ts;
use crate::trace::args::plain_text;
use crate::trace::kind::EventKind;
use crate::vendor::{begins_capture, ends_capture, single_work};

/// A call that enqueued work, and whose work did not run.
#[derive(Debug, Clone)]
pub(in crate::link) struct CapturedCall {
    pub row: u32,
    /// The work that it enqueued.
    pub work: EventKind,
    /// The kernel that it names.
    pub kernel: Option<String>,
}

/// The calls of one capture, in the order of time.
#[derive(Debug, Clone, Default)]
pub(in crate::link) struct GraphCapture {
    pub calls: Vec<CapturedCall>,
    /// When it was over; `None` for the calls of a thread, which may be of several captures.
    pub end: Option<Ts>,
}

/// Captures in the order of time, then the calls of each thread.
pub(in crate::link) fn captures(view: LaunchView<'_>) -> Vec<GraphCapture> {
    let trace = view.trace;
    let mut work = TextCache::new(&trace.strings, single_work);
    let mut begins = TextCache::new(&trace.strings, begins_capture);
    let mut ends = TextCache::new(&trace.strings, ends_capture);
    let calls = view.nesting.order.iter().copied().filter(|row| is_launch(trace, *row as usize));
    let mut rows: Vec<u32> = calls.collect();
    crate::sort::by_key(&mut rows, |row| (trace.events.start.at(*row as usize), *row));
    // A capture that began in one thread has the calls of others, as those of a backward pass.
    let mut open: FxHashMap<StrId, GraphCapture> = FxHashMap::default();
    let mut threads = vec![GraphCapture::default(); trace.tracks.len()];
    let mut found = Vec::new();
    for row in rows {
        let (name, process) = (trace.events.name.at(row as usize), trace.process_of(row as usize));
        if begins.of(name) {
            open.entry(process).or_default();
        } else if ends.of(name) {
            let capture = open.remove(&process);
            let end = Some(trace.events.end(row as usize));
            found.extend(capture.map(|capture| GraphCapture { end, ..capture }));
        }
        if view.launched.of(row as usize).len() > 0 {
            continue;
        }
        let kernel = kernel_name(view, row as usize);
        let named = kernel.as_ref().map(|_| EventKind::Kernel);
        let Some(work) = work.of(name).or(named) else { continue };
        let call = CapturedCall { row, work, kernel };
        if call.kernel.is_some() {
            threads[trace.events.track.at(row as usize).index()].calls.push(call.clone());
        }
        if let Some(capture) = open.get_mut(&process) {
            capture.calls.push(call);
        }
    }
    found.extend(threads);
    found.retain(|capture| !capture.calls.is_empty());
    found
}

fn kernel_name(view: LaunchView<'_>, row: usize) -> Option<String> {
    let trace = view.trace;
    let mut pairs = trace.args.pairs(&trace.strings, trace.events.args(row));
    pairs.find(|(key, _)| *key == "kernel").map(|(_, json)| plain_text(&json))
}
