//! Finds events of no known kind in a trace without device work: an accelerator whose work is not
//! recognised looks like that.

use crate::strings::TextCache;
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::vendor;

/// The category of Kineto's own spans, which last and are no work.
const SPANS: &str = "Trace";

/// Events of no known kind that last; none in a trace with device work.
pub(super) fn of_unknown_kind(trace: &Trace) -> Vec<u32> {
    let events = &trace.events;
    if events.kind.iter().any(|kind| kind.is_device_work()) {
        return Vec::new();
    }
    let is_new = |category: &str| category != SPANS && vendor::category(&category.to_ascii_lowercase()).is_none();
    let mut is_new = TextCache::new(&trace.strings, is_new);
    let is_unknown = |row: &usize| {
        events.kind[*row] == EventKind::Other && events.dur[*row].0 > 0 && is_new.of(events.category[*row])
    };
    (0..events.len()).filter(is_unknown).map(|row| row as u32).collect()
}
