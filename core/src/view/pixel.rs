//! Converts time to pixels counted from the screen's start, so that grouping is stable while
//! panning.

use std::ops::Range;

use super::session_trace::TraceView;
use crate::time::{TimeRange, Ts};

/// A window of a part, so many pixels wide.
#[derive(Debug, Clone, Copy)]
pub(super) struct PixelScale {
    zero: Ts,
    /// How long one is: 1 or more.
    pub(super) pixel_ns: i64,
}

impl PixelScale {
    pub(super) fn new(part: TraceView<'_>, window: TimeRange, pixels: u32) -> Self {
        Self { zero: part.zero, pixel_ns: (window.dur().0 / i64::from(pixels)).max(1) }
    }

    /// The pixel of a time.
    pub(super) fn of(self, time: Ts) -> i64 {
        time.since(self.zero).0.div_euclid(self.pixel_ns)
    }

    /// The place of the first event of a lane that is drawn apart from the one that `places` begin
    /// with: it is wide enough for that, or in another pixel.
    pub(super) fn next(self, part: TraceView<'_>, places: Range<usize>) -> usize {
        let (events, lanes) = (&part.linked.trace.events, part.lanes());
        let (row, after) = (lanes.row(places.start), places.start + 1);
        if events.dur.at(row).0 >= self.pixel_ns {
            return after;
        }
        let end_of_pixel = self.start(self.of(events.start.at(row)).saturating_add(1));
        let next = lanes.first(after..places.end, |row| events.start.at(row) >= end_of_pixel);
        // Only the last one of a pixel can be wide enough to be drawn by itself.
        let is_wide = |at: usize| events.dur.at(lanes.row(at)).0 >= self.pixel_ns;
        if next > after && is_wide(next - 1) { next - 1 } else { next }
    }

    /// When a pixel starts.
    pub(super) fn start(self, pixel: i64) -> Ts {
        Ts(self.zero.0.saturating_add(pixel.saturating_mul(self.pixel_ns)))
    }
}
