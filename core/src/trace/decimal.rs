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

    /// The number where it is whole, however it was written: `5`, or `5.0` as tools write that keep
    /// columns of floats.
    pub fn integer(self) -> Option<i64> {
        let unit = 10_i64.checked_pow(u32::from(self.scale))?;
        (self.mantissa % unit == 0).then_some(self.mantissa / unit)
    }

    /// The number as a float, for display.
    pub fn to_f64(self) -> f64 {
        let mut text = String::new();
        self.write(&mut text);
        // The nearest float to the text; dividing would round twice.
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
}
