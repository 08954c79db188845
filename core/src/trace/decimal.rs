//! Decimal numbers as a file writes them.

/// A number as the file wrote it: `mantissa` with `scale` digits after the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// All digits.
    pub mantissa: i64,
    /// How many of them stand after the point.
    pub scale: u8,
}

impl Decimal {
    /// The number of a plain decimal text of at most 18 digits, which a slot stores without loss.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        // Eighteen digits and a point; a longer text is turned down before its digits could
        // overflow unseen.
        if digits.len() > 19 {
            return None;
        }
        let mut mantissa = 0_i64;
        let mut point = None;
        for (at, byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => mantissa = mantissa.wrapping_mul(10).wrapping_add(i64::from(byte - b'0')),
                b'.' if point.is_none() && at > 0 => point = Some(at),
                _ => return None,
            }
        }
        let num_digits = digits.len() - usize::from(point.is_some());
        let scale = point.map_or(0, |point| digits.len() - point - 1);
        let has_leading_zero = digits.len() > 1 && digits[0] == b'0' && digits[1] != b'.';
        let is_negative_zero = negative && mantissa == 0;
        if num_digits == 0 || num_digits > 18 || has_leading_zero || is_negative_zero || (scale == 0 && point.is_some())
        {
            return None;
        }
        Some(Self { mantissa: if negative { -mantissa } else { mantissa }, scale: scale as u8 })
    }

    /// The shortest text of a float, with a point, where it has few digits; `None` where it may
    /// have more.
    pub fn short(number: f64) -> Option<Self> {
        // A float has one text of at most 15 digits, so the first that is found is it.
        let with_digits = |(scale, unit): (usize, &f64)| {
            let mantissa = (number * unit).round();
            let is_it = mantissa.abs() < MAX_SHORT && (mantissa / unit).to_bits() == number.to_bits();
            is_it.then_some(Self { mantissa: mantissa as i64, scale: scale as u8 })
        };
        // No mantissa is a negative zero, and smaller numbers are written with exponents.
        let is_short = if number == 0.0 { number.is_sign_positive() } else { number.abs() >= MIN_SHORT };
        UNITS[..=MAX_SHORT_SCALE].iter().enumerate().skip(1).filter(|_| is_short).find_map(with_digits)
    }

    /// The number where it is whole, however it was written: `5`, or `5.0` as tools write that keep
    /// columns of floats.
    pub fn integer(self) -> Option<i64> {
        let unit = 10_i64.checked_pow(u32::from(self.scale))?;
        (self.mantissa % unit == 0).then_some(self.mantissa / unit)
    }

    /// The number as a float, for display.
    pub fn to_f64(self) -> f64 {
        // Both sides are exact, so that the quotient is the nearest float to the text.
        if let Some(unit) = UNITS.get(usize::from(self.scale)).filter(|_| self.mantissa.unsigned_abs() <= MAX_EXACT) {
            return self.mantissa as f64 / unit;
        }
        let mut text = String::new();
        self.write(&mut text);
        text.parse().unwrap_or(f64::NAN)
    }

    /// Writes the text that was parsed.
    pub fn write(self, out: &mut String) {
        let digits = self.mantissa.unsigned_abs().to_string();
        let scale = usize::from(self.scale);
        if self.mantissa < 0 {
            out.push('-');
        }
        if scale == 0 {
            out.push_str(&digits);
            return;
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    }
}

/// Floats hold all integers up to this one.
const MAX_EXACT: u64 = 1 << 53;

/// Fifteen digits.
const MAX_SHORT: f64 = 1e15;
const MIN_SHORT: f64 = 1e-4;
/// More are rare.
const MAX_SHORT_SCALE: usize = 6;

/// Powers of ten by their exponents, as far as floats hold them.
const UNITS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_gives_back_the_text_it_took() {
        for text in ["0", "-1", "12.50", "0.001", "-0.5", "123456789012345678"] {
            let mut out = String::new();
            Decimal::parse(text.as_bytes()).unwrap().write(&mut out);
            assert_eq!(out, text);
        }
        for text in ["", "-", "01", "-0", "1.", ".5", "1e3", "1234567890123456789", "NaN"] {
            assert_eq!(Decimal::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_short_float_is_the_decimal_of_its_text() {
        for number in [0.0, 1.0, -2.5, 0.1, 95.3, 1e-4, 123.456_789, 99_999_999.25, 1e13, -0.000_123] {
            let text = format!("{number:?}");
            assert_eq!(Decimal::short(number), Decimal::parse(text.as_bytes()), "{text}");
        }
        for number in [-0.0, 1e15, 1e-5, 1e-7, 1.0 / 3.0, 0.1 + 0.2, f64::NAN, f64::INFINITY] {
            assert_eq!(Decimal::short(number), None, "{number}");
        }
    }

    #[test]
    fn a_number_is_the_float_that_its_text_is() {
        for text in ["0", "-1", "0.1", "95.30000000000001", "-0.003", "9007199254740993", "123456789012345.678", "5.0"]
        {
            assert_eq!(Decimal::parse(text.as_bytes()).map(Decimal::to_f64), text.parse().ok(), "{text}");
        }
    }
}
