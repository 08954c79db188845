//! A file to read, and the limits of a reader.

use std::borrow::Cow;
use std::io::Read;

/// One file, plain or compressed.
pub struct Input<'a> {
    /// Its bytes.
    pub source: InputSource<'a>,
    /// A name for messages.
    pub name: Option<&'a str>,
    /// A callback that may end the reading of bytes in memory; a stream fails instead.
    pub watch: Option<ReadProgress<'a>>,
}

/// Is told from time to time how many more bytes of a file were read, and may end the reading with
/// an error of the system.
pub type ReadProgress<'a> = Box<dyn FnMut(u64) -> std::io::Result<()> + Send + 'a>;

/// Where a file's bytes are.
pub enum InputSource<'a> {
    /// In memory.
    Bytes(Cow<'a, [u8]>),
    /// Still to be read; only a small part is in memory at a time.
    Stream(Box<dyn Read + Send + 'a>),
}

impl<'a> Input<'a> {
    /// Bytes in memory, without a name.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { source: InputSource::Bytes(Cow::Borrowed(bytes)), name: None, watch: None }
    }

    /// Bytes that are still to be read, without a name.
    pub fn stream(stream: impl Read + Send + 'a) -> Self {
        Self { source: InputSource::Stream(Box::new(stream)), name: None, watch: None }
    }

    /// The same with a name for messages.
    #[must_use]
    pub fn named(self, name: &'a str) -> Self {
        Self { name: Some(name), ..self }
    }
}

/// Limits of a reader.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of decompressed text, 8 GiB by default.
    pub max_bytes: u64,
    /// Threads, 1 by default; a second one decompresses while the first one reads.
    pub max_threads: usize,
    /// Whether environment variables, host and user names, command lines and secrets stay in the
    /// headers. By default they are left out, because traces are shared.
    pub include_environment: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 8 << 30, max_threads: 1, include_environment: false }
    }
}
