//! Formats numbers and names for readers.

/// A number with grouped digits and a fixed number of decimals: `1,234.500`.
pub(super) fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::with_capacity(text.len() + text.len() / 3);
    if value < 0.0 && text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        out.push('−');
    }
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// A count with all its digits.
pub(super) fn count(value: i64) -> String {
    decimal(value as f64, 0)
}

/// A fraction, in percent.
pub(super) fn percent(share: f64) -> String {
    let text = percents(share);
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{text} %")
}

/// A percentage without its sign. A positive share never shows as 0, a partial one never as 100.
pub(super) fn percents(share: f64) -> String {
    let text = decimal(share * 100.0, 1);
    match text.as_str() {
        "0.0" if share > 0.0 => String::from("<0.1"),
        "100.0" if share < 1.0 => String::from(">99.9"),
        _ => text,
    }
}

/// `1 rank`, `2 ranks`.
pub(super) fn plural(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number as i64), if number == 1 { "" } else { "s" })
}

/// A `snake_case` name as words with a capital first letter.
pub(super) fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters
        .next()
        .map_or_else(String::new, |first| std::iter::once(first.to_ascii_uppercase()).chain(letters).collect())
}

/// Capitalises the first letter, unless the text begins with an identifier.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let is_name = text.split(' ').next().is_some_and(|word| word.contains(['_', '.', ':']));
    match letters.next() {
        Some(first) if !is_name => std::iter::once(first.to_ascii_uppercase()).chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Date and time in UTC from Unix nanoseconds; `None` for dates outside of a recording's range.
pub(super) fn date(ns: i64) -> Option<String> {
    /// 2015: files before `PyTorch` 2.4 may count from the start of the machine.
    const EARLIEST_S: i64 = 1_420_070_400;
    let seconds = ns.div_euclid(1_000_000_000);
    if seconds < EARLIEST_S {
        return None;
    }
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the day that comes and goes is the last.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (date, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    Some(format!("{year}-{month:02}-{date:02} {hour:02}:{minute:02}:{second:02} UTC"))
}

#[cfg(test)]
mod tests {
    use super::{date, decimal, percent, sentence};

    #[test]
    fn numbers_keep_their_digits_in_groups() {
        let of = |value, decimals| decimal(value, decimals);
        assert_eq!(
            [of(1_234.5, 3), of(0.0, 0), of(-0.0, 1), of(-1_000_000.0, 0)],
            ["1,234.500", "0", "0.0", "−1,000,000"]
        );
    }

    #[test]
    fn a_part_is_neither_nothing_nor_all() {
        assert_eq!(
            [0.0, 1e-6, 0.0126, 0.5, 0.9999, 1.0].map(percent),
            ["0 %", "<0.1 %", "1.3 %", "50 %", ">99.9 %", "100 %"]
        );
    }

    #[test]
    fn names_in_sentences_stay_as_they_are() {
        let texts = ["10 steps without _foreach_ operators", "many short kernels", "zero_grad fills", ""];
        let sentences = ["10 steps without _foreach_ operators", "Many short kernels", "zero_grad fills", ""];
        assert_eq!(texts.map(sentence), sentences);
    }

    #[test]
    fn dates_of_recordings() {
        assert_eq!(date(1_751_410_836_000_000_000).as_deref(), Some("2025-07-01 23:00:36 UTC"));
        assert_eq!(date(1_709_164_800_000_000_000).as_deref(), Some("2024-02-29 00:00:00 UTC"));
        assert_eq!([date(5), date(-5), date(i64::MIN)], [None, None, None]);
    }
}
