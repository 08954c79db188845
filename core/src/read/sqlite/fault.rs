//! Says what is wrong with a database.

use std::fmt;
use std::io;

/// A fault of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::read) struct SqlFault(String);

impl SqlFault {
    pub(super) fn new(what: String) -> Self {
        Self(what)
    }

    /// One at a page; pages count from 1.
    pub(super) fn at(page: u32, what: &str) -> Self {
        Self(format!("{what} (page {page})"))
    }
}

impl From<io::Error> for SqlFault {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for SqlFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
