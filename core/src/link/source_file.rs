//! Files that may hold sources of kernels, given beside a trace.

use std::sync::Arc;

use super::linked_trace::LinkedTrace;

/// A file that may hold sources of kernels, or facts about them.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its name for readers, relative to a folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl SourceFile {
    /// The last part of a path of any system.
    pub(crate) fn base_name(path: &str) -> &str {
        path.rsplit(['/', '\\']).next().unwrap_or(path)
    }
}

impl LinkedTrace {
    /// The trace with files of sources, from which analyses read costs of generated kernels.
    #[must_use]
    pub fn with_sources(&self, files: Vec<SourceFile>) -> Self {
        Self { sources: Arc::from(files), ..self.clone() }
    }
}
