//! A section of a digest.

use super::digest_block::DigestBlock;

/// Blocks about one subject.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DigestSection {
    /// The key in JSON.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) blocks: Vec<DigestBlock>,
}
