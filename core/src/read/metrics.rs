//! Adds sampled metrics to a trace as counters. Each JSON line is a counter event (`ph` C) with
//! Unix time.

use rustc_hash::FxHashMap;

use super::builder::TraceBuilder;
use super::element::TraceElement;
use crate::json::Scanner;
use crate::sort;
use crate::time::{TimeRange, ns_from_micros};
use crate::warning::WarningKind;

impl TraceBuilder {
    /// Adds the samples within the span of the trace, whose times are those of its clock. Of each
    /// name, the last sample before the span stands at its start, for until the next one that was
    /// the value. Whole microseconds stay whole.
    pub(super) fn push_metrics(&mut self, text: &[u8]) {
        let Some(span) = self.trace.events.range() else { return };
        self.position = self.next_position();
        self.byte = None;
        let mut before: FxHashMap<&[u8], TraceElement<'_>> = FxHashMap::default();
        let mut inside = Vec::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match sample(line) {
                Some((element, time)) if time < span.start.0 => {
                    before.insert(element.name.map_or(&[], |name| name.raw), element);
                }
                Some((element, time)) if time <= span.end.0 => inside.push(element),
                Some(_) => {}
                None => self.warn(WarningKind::MalformedElement),
            }
        }
        self.push_counters(before.into_values(), inside, span);
    }

    fn push_counters<'a>(
        &mut self,
        before: impl Iterator<Item = TraceElement<'a>>,
        inside: Vec<TraceElement<'a>>,
        span: TimeRange,
    ) {
        let start = format!("{}.{:03}", span.start.0.div_euclid(1000), span.start.0.rem_euclid(1000));
        let mut before: Vec<TraceElement<'_>> = before.collect();
        sort::by_key(&mut before, |element| element.name.map(|name| name.raw));
        before.iter_mut().for_each(|element| element.time = start.as_bytes());
        for mut element in before.into_iter().chain(inside) {
            if self.trace.has_coarse_times {
                element.time = element.time.split(|byte| *byte == b'.').next().unwrap_or_default();
            }
            self.push_row(&element);
            self.position = self.position.saturating_add(1);
        }
    }

    /// Behind the last element of the trace's own file.
    fn next_position(&self) -> u32 {
        let trace = &self.trace;
        let rows = trace.events.position.iter();
        let points = trace.instants.iter().map(|row| row.position).chain(trace.counters.iter().map(|row| row.position));
        let others = trace.flows.iter().map(|row| row.position).chain(trace.metadata.iter().map(|row| row.position));
        rows.chain(points).chain(others).max().map_or(0, |last| last.saturating_add(1))
    }
}

/// The counter of a line and its time in nanoseconds; a time outside any range for other lines,
/// `None` for unreadable ones.
fn sample(line: &[u8]) -> Option<(TraceElement<'_>, i64)> {
    let mut element = TraceElement::default();
    element.scan(&mut Scanner::new(line)).ok()?;
    if element.phase != b'C' {
        return Some((element, i64::MAX));
    }
    let time = ns_from_micros(element.time)?;
    Some((element, time))
}
