//! Derives the kind of an event from its category.

pub use crate::event_kind::EventKind;
use crate::id::StrId;
use crate::strings::Strings;
use crate::vendor;

/// Whether an event is an operator of `torch.autograd.profiler_legacy`, which puts all of them in
/// one process and gives them no category.
pub(crate) fn is_legacy_operator(strings: &Strings, category: StrId, process: StrId) -> bool {
    category == StrId::EMPTY && strings.text(process) == "CPU functions"
}

/// The kind and the side of a category, in any of the spellings since 2020 (`Operator`, `cpu_op`,
/// …).
///
/// ```
/// use kinetoscope::{EventKind, category_kind};
/// assert_eq!(category_kind("cpu_op"), (EventKind::Operator, false));
/// assert_eq!(category_kind("Memcpy"), (EventKind::Copy, true));
/// ```
pub fn category_kind(category: &str) -> (EventKind, bool) {
    let lower = category.to_ascii_lowercase();
    if let Some(category) = vendor::category(&lower) {
        return (category.kind, category.is_on_device);
    }
    let kind = match lower.as_str() {
        "cpu_op" | "operator" | "cpu_instant_event" => EventKind::Operator,
        "user_annotation" => EventKind::Annotation,
        // `FEE` (function entry and exit) is VizTracer's.
        "python_function" | "fee" => EventKind::Python,
        "overhead" => EventKind::Overhead,
        "runtime" | "driver" => EventKind::Launch,
        // Kineto names the calls of every runtime and driver so: `xpu_runtime`.
        other if other.ends_with("_runtime") || other.ends_with("_driver") => EventKind::Launch,
        _ => EventKind::Other,
    };
    (kind, false)
}
