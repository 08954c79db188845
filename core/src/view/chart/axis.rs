//! Chart axes: round linear or logarithmic ticks, in a readable unit.

/// The unit of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChartUnit {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Gigabytes a second.
    Rate,
    /// Fractions.
    Share,
    /// Counts.
    Count,
    /// Anything else.
    Plain,
}

const TIMES: &[(f64, &str)] = &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const SIZES: &[(f64, &str)] = &[(TIB, "TiB"), (TIB / 1024.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];
const NUMBERS: &[(f64, &str)] = &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const TIB: f64 = 1_099_511_627_776.0;

/// Approximate number of ticks.
const STEPS: f64 = 5.0;
/// The most powers that a logarithmic axis shows.
const MAX_POWERS: usize = 8;

impl ChartUnit {
    /// The unit of a column.
    pub(super) fn of(unit: Option<&str>, name: &str, is_integer: bool) -> Self {
        match unit {
            Some("ns") => Self::Time,
            Some("bytes") => Self::Bytes,
            Some("GB/s") => Self::Rate,
            _ if name == "gbps" => Self::Rate,
            _ if name.ends_with("share") => Self::Share,
            _ if is_integer => Self::Count,
            _ => Self::Plain,
        }
    }

    /// A value in three digits and a unit: `46.8 ms`.
    pub(super) fn words(self, value: f64) -> String {
        if value == 0.0 {
            return String::from("0");
        }
        if value < 0.0 {
            return format!("−{}", self.words(-value));
        }
        match self {
            Self::Time => scaled(value, TIMES),
            Self::Bytes => scaled(value, SIZES),
            Self::Rate => format!("{} GB/s", digits(value)),
            Self::Share => format!("{} %", digits(value * 100.0)),
            Self::Plain if value < 1e-3 => tiny(value),
            Self::Count | Self::Plain if value < 10_000.0 => grouped(value),
            Self::Count | Self::Plain => scaled(value, NUMBERS),
        }
    }

    /// Steps of an axis are multiples of these.
    fn step_unit(self, end: f64) -> f64 {
        let found = if self == Self::Bytes { SIZES.iter().find(|(size, _)| end >= *size) } else { None };
        found.map_or(1.0, |(size, _)| *size)
    }
}

/// The value in the largest unit that it reaches after rounding.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let largest = units.iter().find(|(size, _)| value >= size * 0.9995);
    let (size, unit) = largest.or(units.last()).copied().unwrap_or((1.0, ""));
    let number = if size <= 1.0 && value >= 1.0 { grouped(value) } else { digits(value / size) };
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// Three digits, or all of a whole number below ten thousand.
fn grouped(value: f64) -> String {
    if value.fract() == 0.0 && value < 10_000.0 {
        let whole = value as u64;
        return if whole < 1000 { whole.to_string() } else { format!("{},{:03}", whole / 1000, whole % 1000) };
    }
    digits(value)
}

/// Three digits and a power of ten.
fn tiny(value: f64) -> String {
    let text = format!("{value:.2e}");
    let (number, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{}", number.trim_end_matches('0').trim_end_matches('.'), power.replace('-', "−"))
}

/// Three digits, without zeros at the end of a fraction.
fn digits(value: f64) -> String {
    let power = if value > 0.0 { value.log10().floor() } else { 0.0 };
    let decimals = (2.0 - power).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// An axis from its first value to its last, over some pixels.
#[derive(Debug, Clone)]
pub(super) struct ChartAxis {
    unit: ChartUnit,
    start: f64,
    end: f64,
    pixels: f64,
    /// Pixels at the start where zeros stand, on an axis of powers, which has none.
    zeros: Option<f64>,
}

impl ChartAxis {
    /// Equal steps from `start`, or 0 if that is more, to `end`.
    pub(super) fn linear(unit: ChartUnit, start: f64, end: f64, pixels: f64) -> Self {
        let start = start.min(0.0);
        Self { unit, start, end: if end > start { end } else { start + 1.0 }, pixels, zeros: None }
    }

    /// Powers around all of these values; those that are 0 or less get a place of their own.
    pub(super) fn powers(unit: ChartUnit, values: &[f64], pixels: f64) -> Self {
        let positive = values.iter().copied().filter(|value| *value > 0.0);
        let (least, most) =
            positive.fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        let has_zeros = values.iter().any(|value| *value <= 0.0);
        let base = base(unit);
        let power = |value: f64| value.log(base);
        let (start, end) =
            if most > 0.0 { ((power(least) + 1e-9).floor(), (power(most) - 1e-9).ceil()) } else { (0.0, 1.0) };
        Self { unit, start, end: end.max(start + 1.0), pixels, zeros: Some(if has_zeros { 26.0 } else { 0.0 }) }
    }

    /// Where a value stands, in pixels from the start.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = |value: f64| ((value - self.start) / (self.end - self.start)).clamp(0.0, 1.0);
        match self.zeros {
            None => self.pixels * share(value),
            Some(_) if value <= 0.0 => 0.0,
            Some(zeros) => zeros + (self.pixels - zeros) * share(value.log(base(self.unit))),
        }
    }

    /// The least value that has a place of its own on an axis of powers, and the greatest.
    pub(super) fn powers_shown(&self) -> [f64; 2] {
        [self.start, self.end].map(|power| base(self.unit).powf(power))
    }

    /// Values to mark, each with its words.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values = if self.zeros.is_some() { self.power_ticks() } else { self.linear_ticks() };
        values.into_iter().map(|value| (value, self.unit.words(value))).collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let unit = self.unit.step_unit(self.end - self.start);
        let raw = (self.end - self.start) / STEPS / unit;
        let power = 10_f64.powf(raw.log10().floor());
        let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= raw * 0.999).unwrap_or(10.0);
        let mut step = factor * power * unit;
        if matches!(self.unit, ChartUnit::Count | ChartUnit::Time) {
            step = step.max(1.0);
        }
        let first = (self.start / step).ceil() as i64;
        (0..)
            .map(|at| (first + at) as f64 * step)
            .take_while(|value| *value <= self.end * (1.0 + 1e-9))
            .take(16)
            .collect()
    }

    fn power_ticks(&self) -> Vec<f64> {
        let (start, end) = (self.start as i32, self.end as i32);
        let every = ((end - start) as usize).div_ceil(MAX_POWERS).max(1);
        let zero = self.zeros.filter(|zeros| *zeros > 0.0).map(|_| 0.0);
        let base = base(self.unit);
        zero.into_iter().chain((start..=end).step_by(every).map(|power| base.powi(power))).collect()
    }
}

fn base(unit: ChartUnit) -> f64 {
    if unit == ChartUnit::Bytes { 32.0 } else { 10.0 }
}

#[cfg(test)]
mod tests {
    use super::{ChartAxis, ChartUnit};

    #[test]
    fn values_are_told_in_three_digits_of_the_unit_that_fits() {
        let words = |unit: ChartUnit, values: &[f64]| values.iter().map(|value| unit.words(*value)).collect::<Vec<_>>();
        let times = [0.0, 7.0, 1_500.0, 46_762_159.0, 999_999.0, 2e9, -3_000.0];
        assert_eq!(words(ChartUnit::Time, &times), ["0", "7 ns", "1.5 µs", "46.8 ms", "1 ms", "2 s", "−3 µs"]);
        assert_eq!(words(ChartUnit::Bytes, &[1_000.0, 1_536.0, 1_073_741_824.0]), ["1,000 B", "1.5 KiB", "1 GiB"]);
        assert_eq!(words(ChartUnit::Count, &[0.5, 3.0, 1_234.0, 56_789.0]), ["0.5", "3", "1,234", "56.8 k"]);
        assert_eq!(words(ChartUnit::Share, &[0.2831]), ["28.3 %"]);
        assert_eq!(words(ChartUnit::Rate, &[1_555.0]), ["1555 GB/s"]);
    }

    #[test]
    fn marks_are_round_numbers_in_the_range() {
        let words = |axis: &ChartAxis| axis.ticks().into_iter().map(|(_, words)| words).collect::<Vec<_>>();
        assert_eq!(
            words(&ChartAxis::linear(ChartUnit::Time, 0.0, 46e6, 500.0)),
            ["0", "10 ms", "20 ms", "30 ms", "40 ms"]
        );
        assert_eq!(words(&ChartAxis::linear(ChartUnit::Bytes, 0.0, 5.0 * 1_048_576.0, 500.0))[1], "1 MiB");
        assert_eq!(words(&ChartAxis::linear(ChartUnit::Count, 0.0, 2.0, 500.0)), ["0", "1", "2"]);
        assert_eq!(
            words(&ChartAxis::powers(ChartUnit::Time, &[1_500.0, 2e6], 500.0)),
            ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]
        );
        assert_eq!(words(&ChartAxis::powers(ChartUnit::Time, &[0.0, 20.0], 500.0)), ["0", "10 ns", "100 ns"]);
    }

    #[test]
    fn no_range_is_one_too() {
        for (start, end) in [(0.0, 0.0), (-5.0, -5.0), (0.0, f64::MAX), (f64::MIN, 0.0), (0.0, 1e-300)] {
            for unit in [ChartUnit::Time, ChartUnit::Bytes, ChartUnit::Plain] {
                let axis = ChartAxis::linear(unit, start, end, 500.0);
                assert!(axis.ticks().len() <= 16);
                assert!((0.0..=500.0).contains(&axis.at(end)), "{start} {end}");
            }
        }
        assert_eq!(ChartAxis::powers(ChartUnit::Count, &[], 500.0).ticks().len(), 2);
        assert!(ChartAxis::powers(ChartUnit::Time, &[1.0, 1e300], 500.0).ticks().len() <= 9);
    }
}
