//! Tools other than Kineto that write traces in Chrome's format, and the meaning of their rows.
//!
//! Their events have no category, or one of their own. The names of processes and threads say what
//! runs there.

mod chrome;
mod msprof;
mod onnx_runtime;
mod tensorflow;
mod viztracer;
mod xla;

use super::entry::{NamePattern, Vendor};
use crate::event_kind::EventKind;

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
    header_keys: &'static [&'static str],
    /// Names of processes that only its files have.
    processes: &'static [NamePattern],
    /// Names of threads that only its files have.
    threads: &'static [NamePattern],
    /// Categories that only its files have.
    categories: &'static [&'static str],
    /// The meaning of a row.
    role: fn(&TrackNames<'_>) -> TrackRole,
    /// Whether work of this name, in lower case, exchanges data with other ranks.
    communicates: fn(&TrackNames<'_>, &str) -> bool,
}

impl Producer {
    const EMPTY: Self = Self {
        title: "",
        records_pytorch: false,
        vendor: None,
        advice: "",
        header_keys: &[],
        processes: &[],
        threads: &[],
        categories: &[],
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

/// All tools that are told apart from Kineto.
static PRODUCERS: &[&Producer] = &[
    &msprof::MSPROF,
    &tensorflow::TENSORFLOW,
    &xla::XLA,
    &viztracer::VIZTRACER,
    &onnx_runtime::ONNX_RUNTIME,
    &chrome::CHROME,
];

/// Names in a file that tell its tool.
#[derive(Debug, Clone, Copy)]
pub enum ToolName<'a> {
    /// A key of the header.
    HeaderKey(&'a str),
    /// The name of a process.
    Process(&'a str),
    /// The name of a thread.
    Thread(&'a str),
    /// A category of events.
    Category(&'a str),
}

/// The tool that alone uses a name.
///
/// ```
/// use kinetoscope::vendor::{ToolName, producer};
/// let xla = producer(ToolName::Process("/device:TPU:0")).expect("XLA names devices so");
/// assert!(!xla.records_pytorch && producer(ToolName::Process("python")).is_none());
/// ```
pub fn producer(name: ToolName<'_>) -> Option<&'static Producer> {
    let has = |producer: &&&Producer| match name {
        ToolName::HeaderKey(key) => producer.header_keys.contains(&key),
        ToolName::Process(process) => producer.processes.iter().any(|pattern| pattern.matches(process)),
        ToolName::Thread(thread) => producer.threads.iter().any(|pattern| pattern.matches(thread)),
        ToolName::Category(category) => producer.categories.contains(&category),
    };
    PRODUCERS.iter().find(has).copied()
}

/// Whether any tool gives its processes or threads this name, so that it reveals nothing private.
pub fn is_tool_title(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _-+:()#,/".contains(&byte);
    let is_known = || producer(ToolName::Process(name)).is_some() || msprof::is_title(name) || xla::is_title(name);
    name.bytes().all(is_plain) && is_known()
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
    /// Whether work may contain work, as a loop contains its body.
    pub nests: bool,
}

impl TrackRole {
    /// A thread of the host with events of no kind.
    const HOST: Self = Self { stream: None, kind: |_| None, nests: false };

    const fn host(kind: fn(&EventNames<'_>) -> Option<EventKind>) -> Self {
        Self { kind, ..Self::HOST }
    }

    const fn device(device: Option<i64>, stream: Option<i64>, kind: fn(&EventNames<'_>) -> Option<EventKind>) -> Self {
        Self { stream: Some((device, stream)), kind, nests: false }
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
fn last_number(text: &str) -> Option<i64> {
    let digits = text.len() - text.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    text[text.len() - digits..].parse().ok()
}

/// The number behind a text: 20 of `Stream #20(Compute)` behind `Stream #`.
fn number_after(text: &str, start: &str) -> Option<i64> {
    let rest = text.strip_prefix(start)?;
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    rest[..digits].parse().ok()
}
