//! Texts that reveal nothing private: profilers, runtimes and `PyTorch` write them. `harmless.tsv`
//! lists them with a reason per group, and [`VENDORS`] has the names of vendors; all other text
//! counts as private.

use rustc_hash::FxHashSet;

use super::public::MAX_DIGITS;
use crate::vendor::VENDORS;

const LIST: &str = include_str!("harmless.tsv");

/// Addresses and ids (of 64 bits) have as many hexadecimal digits.
const MAX_HEX_DIGITS: usize = 16;

/// Kinds of entries: `word` (in lower case), `run` (of letters and digits), `header` (a key),
/// `device` (a word in the name of one).
fn listed(sort: &'static str) -> impl Iterator<Item = &'static str> {
    let rows = LIST.lines().filter_map(move |line| line.strip_prefix(sort)?.strip_prefix('\t'));
    rows.filter_map(|row| row.split_once('\t')).flat_map(|(_, texts)| texts.split(", "))
}

/// Harmless words.
#[derive(Debug)]
pub(super) struct HarmlessWords(FxHashSet<&'static str>);

impl Default for HarmlessWords {
    fn default() -> Self {
        Self(listed("word").chain(listed("run")).chain(VENDORS.iter().flat_map(|vendor| vendor.words())).collect())
    }
}

impl HarmlessWords {
    /// Whether a text has none but harmless words and numbers.
    pub(super) fn are_all_of(&self, text: &str) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _-+>:;,.()[]{}<=#%".contains(&byte);
        let mut parts = text.split([' ', ',', '[', ']', '(', ')', '{', '}']);
        text.bytes().all(is_plain) && parts.all(|part| self.are_all_of_part(part))
    }

    fn are_all_of_part(&self, part: &str) -> bool {
        let is_hex = |hex: &str| hex.len() <= MAX_HEX_DIGITS && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        // A number of four parts is an address.
        let is_address = || part.bytes().filter(|byte| *byte == b'.').count() > 2 && !part.contains("chakra");
        let is_word = |word: &str| word.is_empty() || self.0.contains(word.to_ascii_lowercase().as_str());
        let is_run = |run: &str| {
            let has_words = || run.split(|letter: char| letter.is_ascii_digit()).all(is_word);
            is_plain_run(run) && has_words() || self.0.contains(run)
        };
        let num_digits = part.bytes().filter(u8::is_ascii_digit).count();
        let has_runs = || part.split(|letter: char| !letter.is_ascii_alphanumeric()).all(is_run);
        part.strip_prefix("0x").is_some_and(is_hex) || num_digits <= MAX_DIGITS && !is_address() && has_runs()
    }
}

/// Whether a run of letters and digits may be made of words and numbers. Longer digits than those
/// of an id are none, nor is a mixture with several single letters: `s3e7m`, but `16x16x8`.
pub(super) fn is_plain_run(run: &str) -> bool {
    let num_digits = run.bytes().filter(u8::is_ascii_digit).count();
    let is_mixed_hex = num_digits > 0 && num_digits < run.len() && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut single = run.split(|letter: char| letter.is_ascii_digit()).filter(|letters| letters.len() == 1);
    let first = single.next();
    num_digits <= MAX_DIGITS
        && !(is_mixed_hex && run.len() > MAX_HEX_DIGITS)
        && (num_digits == 0 || single.all(|letter| Some(letter) == first))
}

/// Whether a key of a header stays.
pub(super) fn is_header(key: &str) -> bool {
    let mut versions = VENDORS.iter().flat_map(|vendor| vendor.versions);
    listed("header").any(|other| other == key) || versions.any(|(other, ..)| *other == key)
}

/// Whether a text is the name of a device, of the words that makers of devices use.
pub(super) fn is_device(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -()".contains(&byte);
    let is_count = |word: &str| word.len() < 5 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_size = |word: &str| word.strip_suffix("GB").or_else(|| word.strip_suffix("gb")).is_some_and(is_count);
    let is_word = |word: &str| is_count(word) || is_size(word) || listed("device").any(|other| other == word);
    name.bytes().all(is_plain) && name.split([' ', '-', '(', ')']).all(is_word)
}

/// Whether a path may be in a text: a separator of folders that is no operator of C++.
pub(super) fn has_path(text: &str) -> bool {
    let text = text.replace("operator/", "");
    text.contains('/') || text.contains('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_known_by_all_words() {
        for name in [
            "NVIDIA H100 80GB HBM3",
            "NVIDIA A100-SXM4-40GB",
            "NVIDIA A100-PG509-200",
            "NVIDIA GeForce RTX 2080 Ti",
            "Tesla V100-SXM2-16GB",
            "Quadro GP100",
            "AMD Instinct MI300X VF",
            "AMD Radeon Graphics",
            "Intel(R) Data Center GPU Max 1550",
            "Ascend910B",
            "ARTEMIS",
            "Synthetic GPU",
        ] {
            assert!(is_device(name), "{name}");
        }
        for name in ["alice's card", "NVIDIA zebra", "NVIDIA H100 80GB zebra", "Tesla 123456", "Intel(R) zebra"] {
            assert!(!is_device(name), "{name}");
        }
    }

    #[test]
    fn what_profilers_write_is_harmless() {
        let words = HarmlessWords::default();
        for text in [
            "",
            "GenericList[Tensor(c10::BFloat16),Int]",
            "Memcpy HtoD (Pageable -> Device)",
            "Iteration Start: PyTorch Profiler",
            "[0, 1, 2]",
            "0x7f1b84a00200",
            "cuda:0",
            "XBLOCK=2,R0_BLOCK=2048",
            "thread 12 (python3.10)",
            "1.1.1-chakra.0.0.4",
            "2.9.0+cu128",
            "DEVICE_TO_HOST",
            "float8_e4m3fn",
            "16x16x8",
            "18446744073709551615",
        ] {
            assert!(words.are_all_of(text), "{text}");
        }
        for text in [
            "alice",
            "10.0.0.1",
            "/data/x",
            "gpu/alice",
            "C:\\x",
            "node17.cluster",
            "alice@host",
            "é",
            "thread 1 (alice)",
            "s3e7m",
            "0x7f1b84a002007f1b8",
            "123456789012345678901",
            "1234-5678-9012-3456-7890-1",
        ] {
            assert!(!words.are_all_of(text), "{text}");
        }
        assert!(has_path("f{lambda at /data/alice/x.cu:3}") && !has_path("operator/"));
    }
}
