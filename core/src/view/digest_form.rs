//! The forms of a digest.

/// The form of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestForm {
    /// Lists and tables for readers.
    Markdown,
    /// The same items as an object, with numbers in ns and bytes.
    Json,
}

impl DigestForm {
    /// The form of that name, `markdown` or `json`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "markdown" => Some(Self::Markdown),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}
