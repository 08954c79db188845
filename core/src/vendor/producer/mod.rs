//! Tools other than Kineto that write traces in Chrome's format, and the meaning of their rows.
//!
//! Their events have no category, or one of their own. The names of processes and threads say what
//! runs there.

mod chrome;
mod entry;
mod flex;
mod msprof;
mod onnx_runtime;
mod proton;
mod tensorflow;
mod viztracer;
mod xla;

pub use entry::{EventNames, Producer, TrackNames, TrackRole};
pub use msprof::DATABASE_NAMES;

/// All tools that are told apart from Kineto.
static PRODUCERS: &[&Producer] = &[
    &msprof::MSPROF,
    &tensorflow::TENSORFLOW,
    &xla::XLA,
    &viztracer::VIZTRACER,
    &onnx_runtime::ONNX_RUNTIME,
    &proton::PROTON,
    &chrome::CHROME,
    &flex::FLEX,
];

/// Keys of the header that our readers give to databases of other tools, each with the tool.
const DATABASES: [(&str, &str); 2] = [("nsight", "Nsight Systems"), ("rocm_unread", "ROCm's profiler")];

/// The tool whose database became a trace with this key in its header.
pub fn database_title(key: &str) -> Option<&'static str> {
    DATABASES.iter().find(|(known, _)| *known == key).map(|(_, title)| *title)
}

/// Whether the value of a header key may hold the base time of a tool's clock.
pub fn holds_base_time(key: &str) -> bool {
    PRODUCERS.iter().any(|producer| producer.header_keys.contains(&key))
}

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
    /// The name of an event without category.
    Event(&'a str),
    /// A key of an event's arguments, and its value as JSON.
    Argument(&'a str, &'a str),
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
        ToolName::Event(event) => producer.event_ends.iter().any(|end| event.ends_with(end)),
        ToolName::Argument(key, json) => {
            producer.arguments.iter().any(|(known, start)| *known == key && json.starts_with(start))
        }
    };
    PRODUCERS.iter().find(has).copied()
}

/// Keys of arguments that may tell a tool.
pub fn telling_arguments() -> impl Iterator<Item = &'static str> {
    PRODUCERS.iter().flat_map(|producer| producer.arguments).map(|(key, _)| *key)
}

/// Whether any tool gives its processes or threads this name, so that it reveals nothing private.
pub fn is_tool_title(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _-+:()#,/<>".contains(&byte);
    let is_known = || producer(ToolName::Process(name)).is_some() || msprof::is_title(name) || xla::is_title(name);
    name.bytes().all(is_plain) && is_known()
}
