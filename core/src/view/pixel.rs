//! Time in pixels, which are counted from the screen's start, so that what shares one stays the same while the window moves.

use super::part::View;
use crate::time::{TimeRange, Ts};

/// A window of a part, so many pixels wide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pixels {
    zero: Ts,
    /// How long one is: 1 or more.
    pub(super) pixel_ns: i64,
}

impl Pixels {
    pub(super) fn new(part: View<'_>, window: TimeRange, pixels: u32) -> Self {
        Self { zero: part.zero, pixel_ns: (window.dur().0 / i64::from(pixels)).max(1) }
    }

    /// The pixel of a time.
    pub(super) fn of(self, time: Ts) -> i64 {
        time.since(self.zero).0.div_euclid(self.pixel_ns)
    }

    /// When a pixel starts.
    pub(super) fn start(self, pixel: i64) -> Ts {
        Ts(self.zero.0.saturating_add(pixel.saturating_mul(self.pixel_ns)))
    }
}
