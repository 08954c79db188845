//! Removes addresses from names. They differ from run to run.

use std::borrow::Cow;

/// The text before the address of an object in a name of Python.
const OBJECT: &str = " at 0x";
/// The start of any address.
const HEX: &str = "0x";
/// Shorter numbers are no addresses.
const MIN_DIGITS: usize = 6;

/// A name without addresses: `<function f at 0x7f1b>` is `<function f>`, `graph_0x7f1b20` is
/// `graph_0x…`.
///
/// ```
/// use kinetoscope::label::without_addresses;
/// assert_eq!(without_addresses("<built-in method relu of type object at 0x7f1b>"), "<built-in method relu of type object>");
/// assert_eq!(without_addresses("run_0x55d0c0ffee"), "run_0x…");
/// assert_eq!(without_addresses("train.py(7): <module>"), "train.py(7): <module>");
/// ```
pub fn without_addresses(name: &str) -> Cow<'_, str> {
    if !name.contains(HEX) {
        return Cow::Borrowed(name);
    }
    let after_digits = |text: &str| text.trim_start_matches(|digit: char| digit.is_ascii_hexdigit()).len();
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once(HEX) {
        let num_digits = after.len() - after_digits(after);
        let object = before.strip_suffix(OBJECT.trim_end_matches(HEX)).filter(|_| num_digits > 0);
        match object {
            Some(before) => text.push_str(before),
            None => {
                text.push_str(before);
                text.push_str(HEX);
                text.push_str(if num_digits >= MIN_DIGITS { "…" } else { &after[..num_digits] });
            }
        }
        rest = &after[num_digits..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}
