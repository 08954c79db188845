//! Tools other than Kineto that write traces in Chrome's format, and the meaning of their rows.
//!
//! Their events have no category, or one of their own. The names of processes and threads say what
//! runs there.

mod chrome;
mod entry;
mod msprof;
mod onnx_runtime;
mod tensorflow;
mod viztracer;
mod xla;

pub use entry::{EventNames, Producer, TrackNames, TrackRole};

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
