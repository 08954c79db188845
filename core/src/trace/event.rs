//! Events: rows with a duration.

use std::borrow::Cow;

use crate::column::{Chunked, Durs, Handles, Rising, Times};
use crate::id::{StrId, TemplateId, TrackId};
use crate::time::{Dur, TimeRange, Ts};
use crate::trace::args::ArgsRef;
use crate::trace::kind::EventKind;

/// One column a field, one row an event, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventTable {
    /// Position in `traceEvents`; ascending, and the public `id`.
    pub position: Rising,
    /// `name`.
    pub name: Handles<StrId>,
    /// `cat`.
    pub category: Handles<StrId>,
    /// From `cat`.
    pub kind: Chunked<EventKind>,
    /// From `pid` and `tid`.
    pub track: Handles<TrackId>,
    /// `ts` in ns, with the file's base time added.
    pub start: Times,
    /// `dur` in ns.
    pub dur: Durs,
    /// Template of `args`.
    pub template: Handles<TemplateId>,
    /// Place of the first number of `args` in the pool.
    pub values: Rising,
    /// Recorded durations of the rows with an impossible one, which `dur` shortens; by row.
    pub recorded: Vec<(u32, Dur)>,
}

/// One event on its way into the table.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields of `EventTable`")]
pub struct EventRow {
    pub position: u32,
    pub name: StrId,
    pub category: StrId,
    pub kind: EventKind,
    pub track: TrackId,
    pub start: Ts,
    pub dur: Dur,
    pub args: ArgsRef,
}

impl EventTable {
    /// Number of events.
    #[inline]
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }

    /// Adds a row.
    pub fn push(&mut self, row: EventRow) {
        self.position.push(row.position);
        self.name.push(row.name);
        self.category.push(row.category);
        self.kind.push(row.kind);
        self.track.push(row.track);
        self.start.push(row.start);
        self.dur.push(row.dur);
        self.template.push(row.args.template);
        self.values.push(row.args.start);
    }

    /// Whether an event is of a kind.
    pub fn has(&self, kind: EventKind) -> bool {
        self.kind.iter().any(|other| *other == kind)
    }

    /// The rows of some kinds.
    #[inline]
    pub fn rows_of(&self, is_it: impl Fn(EventKind) -> bool + Copy) -> impl Iterator<Item = usize> + Clone {
        self.kind.rows_of(move |kind| is_it(*kind))
    }

    /// The rows of work of a device.
    #[inline]
    pub fn device_work(&self) -> impl Iterator<Item = usize> + Clone {
        self.rows_of(EventKind::is_device_work)
    }

    /// A row, with the duration that the file has.
    fn recorded_row(&self, row: usize) -> EventRow {
        EventRow {
            position: self.position.at(row),
            name: self.name.at(row),
            category: self.category.at(row),
            kind: self.kind[row],
            track: self.track.at(row),
            start: self.start.at(row),
            dur: self.impossible_dur(row).unwrap_or(self.dur.at(row)),
            args: self.args(row),
        }
    }

    /// A table of some rows, with the durations that the file has.
    pub(crate) fn picked(&self, rows: impl Iterator<Item = usize>) -> Self {
        let mut picked = Self::default();
        rows.for_each(|row| picked.push(self.recorded_row(row)));
        picked
    }

    /// The row of the event at `position` in the file.
    pub fn row_at(&self, position: u32) -> Option<usize> {
        self.position.row_of(position)
    }

    /// End of an event.
    #[inline]
    pub fn end(&self, row: usize) -> Ts {
        self.start.at(row).after(self.dur.at(row))
    }

    /// The duration in the file, if it is impossible and `dur` holds a shorter one.
    pub fn impossible_dur(&self, row: usize) -> Option<Dur> {
        let at = self.recorded.binary_search_by_key(&(row as u32), |(row, _)| *row).ok()?;
        Some(self.recorded[at].1)
    }

    /// All durations as the file has them.
    pub fn recorded_durs(&self) -> Cow<'_, Durs> {
        if self.recorded.is_empty() {
            return Cow::Borrowed(&self.dur);
        }
        let mut durs = self.dur.clone();
        self.recorded.iter().for_each(|(row, dur)| durs.set(*row as usize, *dur));
        Cow::Owned(durs)
    }

    /// Puts the durations back that the file has.
    pub fn restore_durs(&mut self) {
        for (row, dur) in std::mem::take(&mut self.recorded) {
            self.dur.set(row as usize, dur);
        }
    }

    /// Where an event's arguments are.
    #[inline]
    pub fn args(&self, row: usize) -> ArgsRef {
        ArgsRef { template: self.template.at(row), start: self.values.at(row) }
    }

    /// Replaces an event's arguments.
    pub(crate) fn set_args(&mut self, row: usize, args: ArgsRef) {
        self.template.set(row, args.template);
        self.values.set(row, args.start);
    }

    /// From the first start to the last end; `None` when there are no events.
    pub fn range(&self) -> Option<TimeRange> {
        let start = self.start.iter().min()?;
        let end = (0..self.len()).map(|row| self.end(row)).max()?;
        Some(TimeRange { start, end })
    }
}
