//! Values of counters.

use crate::read::json_object::{push_double, push_integer};

/// A value as it is recorded.
#[derive(Debug, Clone, Copy)]
pub(super) enum CounterValue {
    Integer(i64),
    Double(f64),
}

impl CounterValue {
    /// The value as a float.
    pub(super) fn number(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Double(number) => number,
        }
    }

    /// The same value, unless it was scaled.
    pub(super) fn scaled(self, scaled: f64) -> Self {
        if scaled.to_bits() == self.number().to_bits() { self } else { Self::Double(scaled) }
    }

    /// Appends the value as it is recorded.
    pub(super) fn push(self, out: &mut Vec<u8>) {
        match self {
            Self::Integer(number) => push_integer(out, number),
            Self::Double(number) => push_double(out, number),
        }
    }
}
