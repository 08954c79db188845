//! Natural sort order: numbers in names compare by value.

use super::name::words;

/// The key of natural sort order: `trace_9`, `trace_9.1`, `trace_10`.
///
/// Words sort before numbers, and numbers by value, at any length.
pub fn natural(name: &str) -> Vec<u8> {
    let lower = name.to_ascii_lowercase();
    let mut key = Vec::new();
    for part in words(lower.as_bytes()).flat_map(parts) {
        let is_number = part[0].is_ascii_digit();
        let num_zeros = part.iter().take_while(|byte| is_number && **byte == b'0').count();
        let told = &part[num_zeros..];
        if is_number {
            key.push(2);
            key.extend_from_slice(&(told.len() as u64).to_be_bytes());
        } else {
            key.push(1);
        }
        key.extend_from_slice(told);
        key.push(0);
    }
    key
}

/// The numbers in a word, and the texts between them.
pub(super) fn parts(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    word.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted() {
        let names = [
            "a.json",
            "ab.json",
            "trace_9",
            "trace-9.json",
            "trace_9.2",
            "trace09.10",
            "trace_10",
            "trace_99999999999999999999",
        ];
        assert!(names.is_sorted_by(|a, b| natural(a) < natural(b)), "{:?}", names.map(natural));
        assert_eq!(natural("A_007/b"), natural("a.7-b"));
    }
}
