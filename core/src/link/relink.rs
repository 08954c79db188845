//! Explains why no iteration could be linked.

use std::cmp::Reverse;

use super::node::{FIT, IterationMatch, NodeLinks};
use crate::error::{Error, ErrorKind};
use crate::sort;
use crate::trace::Trace;

/// How many iterations an error names.
const MAX_NAMED: usize = 20;

/// Says which iterations fit best, and how well, so that nobody is sent from one that does not fit
/// to another.
pub(super) fn unfit(trace: &Trace, nodes: &NodeLinks, asked: Option<i64>) -> Error {
    let [expected, found] = if trace.events.is_empty() {
        ["a Kineto trace to link with", "only an Execution Trace"].map(String::from)
    } else {
        let others = others(&nodes.windows, asked);
        let found = match asked {
            Some(number) if nodes.windows.iter().any(|window| window.iteration == number) => {
                format!("{number} (match: {} %)", percent(nodes.confidence))
            }
            Some(number) => number.to_string(),
            None => format!("a best match of {} %", percent(nodes.confidence)),
        };
        let others = if others.is_empty() {
            String::from("; no iteration matches")
        } else {
            format!(
                "; matching iterations: \
             {others}"
            )
        };
        [String::from("an iteration that matches the other recording"), format!("{found}{others}")]
    };
    ErrorKind::Request { expected, found }.into()
}

/// The iterations that fit, but for one, with how well they do: the best first.
fn others(windows: &[IterationMatch], but: Option<i64>) -> String {
    let fitting = windows.iter().filter(|window| Some(window.iteration) != but && window.fit >= FIT);
    let mut fitting: Vec<_> = fitting.map(|window| (window.iteration, Reverse(percent(window.fit)))).collect();
    sort::ascending(&mut fitting);
    fitting.dedup_by_key(|(iteration, _)| *iteration);
    sort::by_key(&mut fitting, |(iteration, fit)| (*fit, *iteration));
    let named = fitting.iter().take(MAX_NAMED).map(|(iteration, Reverse(fit))| format!("{iteration} ({fit} %)"));
    let more = fitting.len().checked_sub(MAX_NAMED).filter(|more| *more > 0).map(|more| format!("{more} more"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// Rounded down, so that only all is 100 %.
fn percent(share: f32) -> i64 {
    (share * 100.0) as i64
}
