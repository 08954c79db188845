//! Texts that reveal nothing private: profilers, runtimes and `PyTorch` write them. `harmless.tsv`
//! lists them with a reason per group, and [`VENDORS`] has the names of vendors; all other text
//! counts as private.

use rustc_hash::FxHashSet;

use crate::vendor::{self, VENDORS};

const LIST: &str = include_str!("harmless.tsv");

/// Kinds of entries: `word` (in lower case), `header` (a key), `device` (starts of
/// names), `module`.
fn listed(sort: &'static str) -> impl Iterator<Item = &'static str> {
    let rows = LIST.lines().filter_map(move |line| line.strip_prefix(sort)?.strip_prefix('\t'));
    rows.filter_map(|row| row.split_once('\t')).flat_map(|(_, texts)| texts.split(", "))
}

/// Harmless words.
#[derive(Debug)]
pub(super) struct HarmlessWords(FxHashSet<&'static str>);

impl Default for HarmlessWords {
    fn default() -> Self {
        Self(listed("word").chain(VENDORS.iter().flat_map(|vendor| vendor.words())).collect())
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
        let is_hex = |hex: &str| hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        // A number of four parts is an address.
        let is_address = || part.bytes().filter(|byte| *byte == b'.').count() > 2 && !part.contains("chakra");
        let is_word = |word: &str| word.is_empty() || self.0.contains(word.to_ascii_lowercase().as_str());
        let has_words = || part.split(|letter: char| !letter.is_ascii_alphabetic()).all(is_word);
        part.strip_prefix("0x").is_some_and(is_hex) || !is_address() && has_words()
    }
}

/// Whether a key of a header stays.
pub(super) fn is_header(key: &str) -> bool {
    let mut versions = VENDORS.iter().flat_map(|vendor| vendor.versions);
    listed("header").any(|other| other == key) || versions.any(|(other, ..)| *other == key)
}

/// Whether a text is the name of a device as its maker gives it.
pub(super) fn is_device(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -()".contains(&byte);
    let is_known = || listed("device").any(|start| name.starts_with(start)) || vendor::of_device(name).is_some();
    is_known() && name.bytes().all(is_plain)
}

/// Whether a text is the name of a function of a runtime or driver.
pub(super) fn is_call(name: &str) -> bool {
    let is_plain = || name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    name == "INVALID" || vendor::has_call_prefix(name) && is_plain()
}

/// Whether a text is the name of a class of `torch.nn`.
pub(super) fn is_module(class: &str) -> bool {
    listed("module").any(|other| other == class)
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
        ] {
            assert!(!words.are_all_of(text), "{text}");
        }
        assert!(is_device("NVIDIA H100 80GB HBM3") && !is_device("alice's card"));
        assert!(is_call("cudaLaunchKernel") && is_call("hipLaunchKernel") && !is_call("customCall"));
        assert!(!is_call("zebra") && !is_call("cudaé"));
        assert!(has_path("f{lambda at /data/alice/x.cu:3}") && !has_path("operator/"));
    }
}
