//! Time in integer nanoseconds, parsed from digits without floats.

use serde::{Deserialize, Serialize};

/// A point in time: nanoseconds since the Unix epoch (or since whatever the file counts from).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Ts(pub i64);

/// A length of time in nanoseconds, never negative in a [`Trace`](crate::Trace).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Dur(pub i64);

impl Ts {
    /// The point `dur` later; saturates.
    #[inline]
    #[must_use]
    pub fn after(self, dur: Dur) -> Ts {
        Ts(self.0.saturating_add(dur.0))
    }

    /// The time from `earlier` to this point; saturates.
    #[inline]
    pub fn since(self, earlier: Ts) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
}

/// A half-open range of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeRange {
    /// First point inside.
    pub start: Ts,
    /// First point outside.
    pub end: Ts,
}

impl TimeRange {
    /// Length of the range.
    pub fn dur(self) -> Dur {
        self.end.since(self.start)
    }

    /// Whether `[start, start + dur)` and the range share a point; an event of no duration counts
    /// as a point.
    pub fn overlaps(self, start: Ts, dur: Dur) -> bool {
        start < self.end && (start.after(dur) > self.start || start >= self.start)
    }
}

/// Adds to a total, which stays at the largest or smallest number when a hostile trace would carry
/// it further.
pub fn add_ns(total: &mut i64, ns: i64) {
    *total = total.saturating_add(ns);
}

/// The sum of durations; saturates likewise.
pub fn sum_ns(durs: impl IntoIterator<Item = i64>) -> i64 {
    durs.into_iter().fold(0, i64::saturating_add)
}

/// Nanoseconds from a decimal number of microseconds, exactly.
///
/// Digits past the nanosecond are rounded to the nearest (half away from zero). `None` when the
/// text is no number or does not fit.
///
/// ```
/// use kinetoscope::time::ns_from_micros;
/// assert_eq!(ns_from_micros(b"1712195495519689.047"), Some(1_712_195_495_519_689_047));
/// assert_eq!(ns_from_micros(b"5.1"), Some(5_100));
/// assert_eq!(ns_from_micros(b"1.5e3"), Some(1_500_000));
/// assert_eq!(ns_from_micros(b"NaN"), None);
/// ```
pub fn ns_from_micros(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let mut mantissa: i64 = 0;
    let mut num_digits = 0;
    let mut at = 0;
    while let Some(digit) = digits.get(at).filter(|byte| byte.is_ascii_digit()) {
        mantissa = mantissa.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
        num_digits += 1;
        at += 1;
    }
    let ns = match digits.get(at..) {
        Some([]) if num_digits > 0 => mantissa.checked_mul(1000)?,
        Some([b'.', fraction @ ..]) if fraction.len() <= 3 && !fraction.is_empty() && num_digits > 0 => {
            let mut ns = mantissa.checked_mul(1000)?;
            let mut unit = 100;
            for digit in fraction {
                if !digit.is_ascii_digit() {
                    return ns_from_micros_general(text);
                }
                ns = ns.checked_add(i64::from(digit - b'0') * unit)?;
                unit /= 10;
            }
            ns
        }
        _ => return ns_from_micros_general(text),
    };
    Some(if negative { -ns } else { ns })
}

/// Any JSON number, with exponent and any count of digits.
fn ns_from_micros_general(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    // The decimal point stands after `whole`; nanoseconds move it three places and the exponent
    // moves it further.
    let point = (whole.len() as i64).checked_add(i64::from(exponent))?.checked_add(3)?;
    let mut ns: i64 = 0;
    let mut rest = whole.bytes().chain(fraction.bytes()).map(|byte| i64::from(byte - b'0'));
    for place in 0..point.max(0) {
        if place > 40 && ns == 0 {
            return Some(0);
        }
        ns = ns.checked_mul(10)?.checked_add(rest.next().unwrap_or(0))?;
    }
    if point >= 0 && rest.next().is_some_and(|digit| digit >= 5) {
        ns = ns.checked_add(1)?;
    }
    Some(if negative { -ns } else { ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn micros_are_exact_in_every_notation() {
        let cases: [(&str, Option<i64>); 14] = [
            ("0", Some(0)),
            ("-3.5", Some(-3_500)),
            ("1712195495519689.047", Some(1_712_195_495_519_689_047)),
            ("0.0004", Some(0)),
            ("0.0005", Some(1)),
            ("12.3456", Some(12_346)),
            ("1.7121954955e15", Some(1_712_195_495_500_000_000)),
            ("1E-3", Some(1)),
            ("1e-9", Some(0)),
            ("99999999999999999999", None),
            ("", None),
            ("-", None),
            ("1.2.3", None),
            ("0e999999999", Some(0)),
        ];
        for (text, ns) in cases {
            assert_eq!(ns_from_micros(text.as_bytes()), ns, "{text}");
        }
    }

    #[test]
    fn a_point_on_the_range_start_is_inside() {
        let range = TimeRange { start: Ts(10), end: Ts(20) };
        assert!(range.overlaps(Ts(10), Dur(0)));
        assert!(range.overlaps(Ts(0), Dur(11)));
        assert!(!range.overlaps(Ts(0), Dur(10)));
        assert!(!range.overlaps(Ts(20), Dur(5)));
    }
}
