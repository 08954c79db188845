//! The rows of a trace as `HolisticTraceAnalysis` loads them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::name_facts::{CategoryFacts, HtaWait, NameFacts};
use crate::analyze::selection::Selection;
use crate::strings::TextCache;
use crate::time::TimeRange;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::iteration::iteration_number;
use crate::trace::kind::EventKind;

/// An event.
#[derive(Debug, Clone, Copy)]
pub(super) struct HtaEvent {
    /// Row of the event table.
    pub(super) event: u32,
    /// Start in microseconds since the file's base.
    pub(super) start: i64,
    /// End; after rounding perhaps one before the start.
    pub(super) end: i64,
    /// Its `stream`, or -1.
    pub(super) stream: i64,
    /// Its `correlation`, or -1.
    pub(super) correlation: i64,
    /// The launch of a device event, a device event of a launch, by place in the frame.
    pub(super) partner: Option<u32>,
    pub(super) name: NameFacts,
    pub(super) category: CategoryFacts,
    /// Its role in the graph.
    pub(super) part: GraphRole,
}

/// The role of an event in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GraphRole {
    /// None: it is outside of the window.
    Outside,
    /// It is in the window, and others may be inside of it.
    Inside,
    /// Besides, its start and its end are nodes.
    Nodes,
}

impl HtaEvent {
    pub(super) fn is_looked_at(&self) -> bool {
        self.part > GraphRole::Outside
    }
}

/// Rows in the order of the file.
pub(super) struct HtaFrame<'a> {
    pub(super) trace: &'a Trace,
    pub(super) rows: Vec<HtaEvent>,
}

impl<'a> HtaFrame<'a> {
    pub(super) fn of(selection: &Selection<'a>, is_last_left_out: bool) -> Self {
        let trace = &selection.linked.trace;
        let mut frame = Self { trace, rows: rows_of(trace) };
        if is_last_left_out {
            frame.leave_out_last();
        }
        frame.pair();
        let window = |range: TimeRange| rounded(range.start.0.saturating_sub(trace.base_ns), range.dur().0);
        let (first, last) = selection.part.as_ref().map(|part| part.hull).map_or((i64::MIN, i64::MAX), window);
        frame.look_at(first, last);
        frame
    }

    pub(super) fn name(&self, row: usize) -> &str {
        self.trace.event_name(self.rows[row].event as usize)
    }

    pub(super) fn kind(&self, row: usize) -> EventKind {
        self.trace.events.kind[self.rows[row].event as usize]
    }

    /// Whether it is a device event: one with a stream, or one of two waits that have none in newer
    /// files.
    pub(super) fn is_on_device(&self, row: usize) -> bool {
        self.rows[row].stream != -1 || self.rows[row].name.is_device_wait()
    }

    /// Leaves out host events from the last iteration on, and device events that no other host
    /// event launched.
    fn leave_out_last(&mut self) {
        let is_step = |row: &usize| iteration_number(self.name(*row)).is_some();
        let steps: Vec<usize> = (0..self.rows.len()).filter(is_step).collect();
        let names: FxHashSet<_> = steps.iter().map(|row| self.name(*row)).collect();
        let last = steps.iter().map(|row| self.rows[*row].start).max();
        let Some(last) = last.filter(|_| names.len() > 1) else { return };
        let is_kept = |row: &&HtaEvent| row.stream == -1 && row.start < last;
        let launched: FxHashSet<i64> = self.rows.iter().filter(is_kept).map(|row| row.correlation).collect();
        self.rows.retain(|row| {
            is_kept(&row) || row.stream != -1 && row.correlation != -1 && launched.contains(&row.correlation)
        });
    }

    /// Joins launches and device events by `correlation`; of several, the last is remembered. The
    /// first event of a file is nobody's partner there.
    fn pair(&mut self) {
        let mut sides = [FxHashMap::default(), FxHashMap::default()];
        let is_device = |row: usize| {
            let HtaEvent { stream, correlation, name, .. } = self.rows[row];
            stream >= 0 && correlation >= 0 || name.is_device_wait()
        };
        let side_of: Vec<usize> = (0..self.rows.len()).map(|row| usize::from(is_device(row))).collect();
        for (at, row) in self.rows.iter().enumerate().filter(|(_, row)| row.correlation != -1) {
            sides[side_of[at]].insert(row.correlation, at as u32);
        }
        let positions = &self.trace.events.position;
        let is_told: Vec<bool> = self.rows.iter().map(|row| positions.at(row.event as usize) > 0).collect();
        for (at, row) in self.rows.iter_mut().enumerate() {
            let partner = sides[1 - side_of[at]].get(&row.correlation).copied();
            row.partner = partner.filter(|other| row.correlation != -1 && is_told[*other as usize]);
        }
    }

    /// Looks at host events that begin in a window, device events that they launched, and every
    /// wait between streams.
    fn look_at(&mut self, first: i64, last: i64) {
        let is_host = |row: &HtaEvent| row.stream == -1 && (first..=last).contains(&row.start) && row.end > row.start;
        let host: Vec<bool> = self.rows.iter().map(is_host).collect();
        for at in 0..self.rows.len() {
            let is_launched = || self.rows[at].partner.is_some_and(|launch| host[launch as usize]);
            let is_looked_at = host[at]
                || self.is_on_device(at) && is_launched()
                || self.kind(at) == EventKind::Sync && self.rows[at].name.wait == Some(HtaWait::StreamForEvent);
            let row = &mut self.rows[at];
            let has_nodes = row.category.has_nodes || row.stream != -1 && row.correlation >= 0;
            row.part = match (is_looked_at, has_nodes) {
                (false, _) => GraphRole::Outside,
                (true, false) => GraphRole::Inside,
                (true, true) => GraphRole::Nodes,
            };
        }
    }
}

fn rows_of(trace: &Trace) -> Vec<HtaEvent> {
    let events = &trace.events;
    let mut names = TextCache::new(&trace.strings, NameFacts::of);
    let mut categories = TextCache::new(&trace.strings, CategoryFacts::of);
    let row_of = |row: usize| {
        let category = categories.of(events.category.at(row));
        category.is_row.then(|| row_of(trace, row, names.of(events.name.at(row)), category))
    };
    (0..events.len()).filter_map(row_of).collect()
}

fn row_of(trace: &Trace, row: usize, name: NameFacts, category: CategoryFacts) -> HtaEvent {
    let (start, end) = rounded(trace.events.start.at(row).0.saturating_sub(trace.base_ns), trace.events.dur.at(row).0);
    let integer = |key| trace.args.integer(&trace.strings, trace.events.args(row), key).unwrap_or(-1);
    HtaEvent {
        event: row as u32,
        start,
        end,
        stream: integer(ArgKey::Stream),
        correlation: integer(ArgKey::Correlation),
        partner: None,
        name,
        category,
        part: GraphRole::Outside,
    }
}

/// Start and end in whole microseconds, from nanoseconds: up and down, of floats, which have
/// quarters of a microsecond left when they count from 1970.
fn rounded(start_ns: i64, dur_ns: i64) -> (i64, i64) {
    let micros = |ns: i64| ns.div_euclid(1_000) as f64 + ns.rem_euclid(1_000) as f64 / 1_000.0;
    let start = micros(start_ns);
    (start.ceil() as i64, (start + micros(dur_ns)).floor() as i64)
}
