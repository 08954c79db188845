//! The entry of a tool: names that only its files have, and the meaning of their rows.

use crate::event_kind::EventKind;
use crate::vendor::entry::{NamePattern, Vendor};

/// A tool that writes traces.
#[derive(Debug)]
pub struct Producer {
    /// The tool in words, with its maker.
    pub title: &'static str,
    /// Whether it records programs of `PyTorch`.
    pub records_pytorch: bool,
    /// The vendor of the devices, where the tool knows no other.
    pub vendor: Option<&'static Vendor>,
    /// Advice for readers of its files.
    pub advice: &'static str,
    /// Keys of the header that only its files have.
    pub(super) header_keys: &'static [&'static str],
    /// Names of processes that only its files have.
    pub(super) processes: &'static [NamePattern],
    /// Names of threads that only its files have.
    pub(super) threads: &'static [NamePattern],
    /// Categories that only its files have.
    pub(super) categories: &'static [&'static str],
    /// Ends of names of events without category that only its files have.
    pub(super) event_ends: &'static [&'static str],
    /// Arguments of events that only its files have, each with the start of its JSON text.
    pub(super) arguments: &'static [(&'static str, &'static str)],
    /// Lists that it writes as one argument per element: the known key, and the keys of the
    /// elements.
    pub split_lists: &'static [(&'static str, [&'static str; 3])],
    /// The meaning of a row.
    pub(super) role: fn(&TrackNames<'_>) -> TrackRole,
    /// Whether work of this name, in lower case, exchanges data with other ranks.
    pub(super) communicates: fn(&TrackNames<'_>, &str) -> bool,
}

impl Producer {
    pub(super) const EMPTY: Self = Self {
        title: "",
        records_pytorch: false,
        vendor: None,
        advice: "",
        header_keys: &[],
        processes: &[],
        threads: &[],
        categories: &[],
        event_ends: &[],
        arguments: &[],
        split_lists: &[],
        role: |_| TrackRole::HOST,
        communicates: |_, _| false,
    };

    /// The meaning of a row.
    pub fn role(&self, names: &TrackNames<'_>) -> TrackRole {
        (self.role)(names)
    }

    /// Whether work of this name, in lower case, exchanges data with other ranks.
    pub fn communicates(&self, names: &TrackNames<'_>, lower: &str) -> bool {
        (self.communicates)(names, lower)
    }
}

/// The names around a row.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrackNames<'a> {
    /// The name of the process.
    pub process: &'a str,
    /// The labels of the process.
    pub labels: &'a str,
    /// The name of the thread.
    pub thread: &'a str,
    /// `tid`, as it is written.
    pub number: &'a str,
    /// The name of its first event.
    pub event: &'a str,
    /// Whether categories already made it the stream of a device.
    pub is_stream: bool,
    /// Whether the process has rows that are named as streams.
    pub has_streams: bool,
}

/// The meaning of a row.
#[derive(Debug, Clone, Copy)]
pub struct TrackRole {
    /// The device and its stream, where the file gives them; `None` for a thread of the host.
    pub stream: Option<(Option<i64>, Option<i64>)>,
    /// The kind of an event that no category tells; `None` for one that stays as it is.
    pub kind: fn(&EventNames<'_>) -> Option<EventKind>,
    /// The kind of device work whose category is too broad; `None` for work that has the kind of
    /// its category.
    pub narrower: fn(&EventNames<'_>) -> Option<EventKind>,
    /// How far the row is from the stream that ran its work: it may repeat the work of rows of the
    /// device that are nearer. 0 for the stream itself.
    pub repeats: u8,
    /// Whether work may contain work, as a loop contains its body.
    pub nests: bool,
}

impl TrackRole {
    /// A thread of the host with events of no kind.
    pub(super) const HOST: Self = Self { stream: None, kind: |_| None, narrower: |_| None, repeats: 0, nests: false };

    pub(super) const fn host(kind: fn(&EventNames<'_>) -> Option<EventKind>) -> Self {
        Self { kind, ..Self::HOST }
    }

    pub(super) const fn device(
        device: Option<i64>,
        stream: Option<i64>,
        kind: fn(&EventNames<'_>) -> Option<EventKind>,
    ) -> Self {
        Self { stream: Some((device, stream)), kind, ..Self::HOST }
    }
}

/// The names of an event.
#[derive(Debug, Clone, Copy)]
pub struct EventNames<'a> {
    /// `name`.
    pub name: &'a str,
    /// `cat`.
    pub category: &'a str,
    /// The type of the device's task, empty without one.
    pub task: &'a str,
}

/// The number that ends a text: 3 of `NPU 3` and of `/device:GPU:3`.
pub(super) fn last_number(text: &str) -> Option<i64> {
    let digits = text.len() - text.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    text[text.len() - digits..].parse().ok()
}

/// The number behind a text: 20 of `Stream #20(Compute)` behind `Stream #`.
pub(super) fn number_after(text: &str, start: &str) -> Option<i64> {
    let rest = text.strip_prefix(start)?;
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    rest[..digits].parse().ok()
}
