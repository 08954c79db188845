//! Writes microseconds as Kineto does.

use std::fmt::Write as _;

/// Writes nanoseconds as microseconds, exactly, with three digits after the point or none.
pub(super) fn write_micros(out: &mut String, ns: i64, has_fraction: bool) {
    let (whole, fraction) = (ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
    out.push_str(if ns < 0 { "-" } else { "" });
    // Writing into a `String` cannot fail.
    let _ = write!(out, "{whole}");
    if has_fraction {
        let _ = write!(out, ".{fraction:03}");
    }
}
