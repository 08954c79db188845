//! Files before and after they are paired.

use crate::read::head::FileHead;

/// Facts about a file before it is read.
#[derive(Debug, Clone, Copy)]
pub struct FileHint<'a> {
    /// Its name, with its folder where there are several.
    pub name: &'a str,
    /// Facts from its first bytes, which outweigh the name.
    pub head: FileHead,
}

/// How files came together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOrigin {
    /// They lie in a folder or an archive, where files of different runs may lie, too.
    Place,
    /// A person chose them: the last two belong together whatever they are called, since an
    /// Execution Trace is given with its Kineto trace.
    Choice,
}

/// The method that paired the files of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairingMethod {
    /// The names are equal but for the words that tell the kinds apart.
    Name,
    /// Each is the only one left of its rank.
    Rank,
    /// The remaining files are a series of Execution Traces numbered like the ranks of the Kineto
    /// traces.
    Number,
    /// There is but one file.
    Alone,
    /// Given by the caller.
    Given,
}

impl PairingMethod {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Rank => "rank",
            Self::Number => "number",
            Self::Alone => "alone",
            Self::Given => "given",
        }
    }
}

/// The files of one recording, by their places among all; at least one is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePair {
    /// Its Kineto trace.
    pub kineto: Option<usize>,
    /// Its Execution Trace.
    pub execution: Option<usize>,
    /// The method that paired them.
    pub how: PairingMethod,
}

/// The recordings among some files, in their natural order.
#[derive(Debug, Default)]
pub struct Pairing {
    /// Every file is in one pair, or a copy.
    pub pairs: Vec<FilePair>,
    /// Files that are passed over because the same recording is there in another form; and why.
    pub copies: Vec<(usize, &'static str)>,
}
