//! Reads the relative change from which a gate fails.

use serde_json::{Map, Value};

use crate::analyze::options::unexpected;
use crate::error::Error;

/// The default, as a share.
const DEFAULT: f64 = 0.03;

/// Removes `fail_over` from a request: a share such as 0.03, or a text such as `3%`.
pub(super) fn take_threshold(request: &mut Map<String, Value>) -> Result<f64, Error> {
    match request.remove("fail_over") {
        None | Some(Value::Null) => Ok(DEFAULT),
        Some(Value::String(text)) => parse(&text),
        Some(value) => match value.as_f64() {
            Some(share) if (0.0..=1.0).contains(&share) => Ok(share),
            _ => Err(unexpected("a share from 0 to 1 as fail_over, such as 0.03 or \"3%\"", &value.to_string())),
        },
    }
}

fn parse(text: &str) -> Result<f64, Error> {
    let (number, is_percent) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (text.trim(), false),
    };
    let value = number.parse::<f64>().ok().filter(|value| value.is_finite());
    match value {
        Some(value) if value >= 0.0 && (is_percent || value == 0.0) => Ok(value / 100.0),
        Some(value) if value > 0.0 => Err(wrong(&format!("{text}: did you mean {number}%?"))),
        Some(_) => Err(wrong(&format!("{text}, which is below 0"))),
        None => Err(wrong(text)),
    }
}

fn wrong(found: &str) -> Error {
    unexpected("a percentage as fail_over, such as 3%", found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_percentage() {
        for (text, expected) in [("3%", 0.03), ("2.5 %", 0.025), ("0", 0.0), ("0%", 0.0), ("150%", 1.5)] {
            assert_eq!(parse(text).ok(), Some(expected), "{text}");
        }
        for text in ["3", "-5%", "nan%", "inf%", "", "%", "three", "1e999%"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
