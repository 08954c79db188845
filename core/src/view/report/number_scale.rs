//! Units and decimals of the numbers in a column: three digits of each, with aligned points.

use super::grid::CellKind;
use super::words::decimal;

/// Units from which value they are used, with their size.
type Units = &'static [(f64, f64, &'static str)];

const TIMES: Units = &[(1e11, 1e9, "s"), (1e6, 1e6, "ms"), (1e3, 1e3, "µs"), (0.0, 1.0, "ns")];

const SIZES: Units = &[
    (1_073_741_824.0, 1_073_741_824.0, "GiB"),
    (1_048_576.0, 1_048_576.0, "MiB"),
    (1_024.0, 1_024.0, "KiB"),
    (0.0, 1.0, "B"),
];

/// As wide as a digit, so that points stay below each other.
const FIGURE_SPACE: char = '\u{2007}';

fn unit(largest: f64, units: Units) -> (f64, &'static str) {
    units.iter().find(|(from, ..)| largest >= *from).map_or((1.0, ""), |(_, size, unit)| (*size, *unit))
}

fn largest_of(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0_f64, |largest, number| largest.max(number.abs()))
}

/// The longest time in a table, whose unit the columns of times share.
#[derive(Clone, Copy)]
pub(super) struct TimeUnit(f64);

/// A column whose longest time is a smaller part of the table's has a unit of its own: its digits
/// would be zeros.
const LEAST_PART: f64 = 0.01;

impl TimeUnit {
    pub(super) fn of(times: impl Iterator<Item = f64>) -> Self {
        Self(largest_of(times))
    }

    /// The unit of a column by its longest time.
    fn of_column(self, longest: f64) -> (f64, &'static str) {
        unit(if longest < LEAST_PART * self.0 { longest } else { self.0 }, TIMES)
    }
}

/// The divisor of a column's numbers, and their decimals.
pub(super) struct NumberScale {
    pub(super) unit: &'static str,
    size: f64,
    /// Decimals of a number that has three digits with them.
    decimals: usize,
    /// Decimals of the smallest number; shorter ones are padded.
    most: usize,
}

impl NumberScale {
    /// Picks the unit that fits the largest number, or that of all times.
    pub(super) fn of(kind: CellKind, numbers: &[Option<f64>], times: TimeUnit) -> Self {
        let largest = largest_of(numbers.iter().flatten().copied());
        let is_time = matches!(kind, CellKind::Time | CellKind::Change);
        let (size, unit) = match kind {
            _ if is_time => times.of_column(largest),
            CellKind::Bytes => unit(largest, SIZES),
            _ => (1.0, ""),
        };
        let is_whole = |number: &f64| (number / size).fract() == 0.0;
        let decimals = match kind {
            _ if numbers.iter().flatten().all(is_whole) => 0,
            _ if is_time => 3,
            CellKind::Number if largest < 10.0 => 3,
            CellKind::Number => 1,
            _ => 2,
        };
        let scale = Self { unit, size, decimals, most: decimals };
        let finest = match kind {
            _ if decimals == 0 => 0,
            _ if is_time => finest(size),
            CellKind::Bytes => 4,
            _ => decimals,
        };
        let most = numbers.iter().flatten().map(|number| scale.decimals_of(*number)).fold(decimals, usize::max);
        Self { most: most.min(finest), ..scale }
    }

    /// Decimals that show three digits of a number.
    fn decimals_of(&self, number: f64) -> usize {
        let shown = (number / self.size).abs();
        if shown == 0.0 || self.decimals == 0 {
            0
        } else {
            self.decimals.max((2.0 - shown.log10().floor()).max(0.0) as usize)
        }
    }

    pub(super) fn words(&self, number: f64) -> String {
        let decimals = self.decimals_of(number).clamp(self.decimals, self.most);
        let number = number / self.size;
        let least = 0.1_f64.powi(decimals as i32);
        let is_seen = number == 0.0 || number.abs() >= 0.5 * least;
        let mut words = if is_seen { decimal(number, decimals) } else { format!("<{}", decimal(least, decimals)) };
        words.extend(std::iter::repeat_n(FIGURE_SPACE, self.most - decimals));
        words
    }
}

/// Decimals of a nanosecond in a unit, or of a microsecond in seconds.
fn finest(size: f64) -> usize {
    (size.log10() as usize).min(6)
}
