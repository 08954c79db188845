//! From bytes to a [`Trace`]: inflate, recognise by content, scan, build columns.

#[cfg(feature = "archives")]
mod archive;
mod args;
mod builder;
#[cfg(feature = "chakra")]
mod chakra;
mod container;
mod decompress;
mod document;
mod element;
mod execution;
#[cfg(feature = "chakra")]
mod graph;
mod head;
mod memory;
mod metrics;
#[cfg(feature = "nsight")]
mod nsight;
mod pairs;
mod partner;
mod pickle;
mod pipe;
mod repair;
mod section;
mod shape;
pub mod snapshot;
mod timeline;
mod tracks;
mod window;
#[cfg(feature = "archives")]
mod zstd;

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use crate::chakra::Chakra;
use crate::error::Error;
use crate::memory::{MemorySnapshot, MemoryTimeline};
use crate::trace::Trace;
#[cfg(feature = "archives")]
pub use archive::{Member, for_each_member, is_archive};
use builder::Builder;
pub use container::{Container, sniff};
pub use head::{Head, head};
#[cfg(feature = "nsight")]
pub use nsight::read_nsight;
pub use partner::{
    Found, How, Origin, Pair, Told, execution_beside, is_archive_name, is_execution, is_report, is_trace, natural,
    pair_up, rank_of,
};
use window::Window;

/// One file, plain or compressed.
pub struct Input<'a> {
    /// What is in it.
    pub source: Source<'a>,
    /// A name for messages.
    pub name: Option<&'a str>,
    /// Who may end the reading of what is in memory already; a stream may fail instead.
    pub watch: Option<Watch<'a>>,
}

/// Is told from time to time how many more bytes of a file were read, and may end the reading with an error of the system.
pub type Watch<'a> = Box<dyn FnMut(u64) -> std::io::Result<()> + Send + 'a>;

/// Where a file's bytes are.
pub enum Source<'a> {
    /// In memory.
    Bytes(Cow<'a, [u8]>),
    /// Still to be read; only a small part is in memory at a time.
    Stream(Box<dyn Read + Send + 'a>),
}

impl<'a> Input<'a> {
    /// Bytes in memory, without a name.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { source: Source::Bytes(Cow::Borrowed(bytes)), name: None, watch: None }
    }

    /// Bytes that are still to be read, without a name.
    pub fn stream(stream: impl Read + Send + 'a) -> Self {
        Self { source: Source::Stream(Box::new(stream)), name: None, watch: None }
    }

    /// The same with a name for messages.
    #[must_use]
    pub fn named(self, name: &'a str) -> Self {
        Self { name: Some(name), ..self }
    }
}

/// What a reader may use up.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of decompressed text, 8 GiB when not said.
    pub max_bytes: u64,
    /// Threads, 1 when not said; a second one decompresses while the first one reads.
    pub max_threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 8 << 30, max_threads: 1 }
    }
}

/// What one file holds.
#[derive(Debug)]
pub enum Recording {
    /// What a rank recorded.
    Trace(Box<Trace>),
    /// The graph of a rank as simulators read it.
    Chakra(Chakra),
    /// The caching allocator at one moment, and what it did before.
    MemorySnapshot(Box<MemorySnapshot>),
    /// The bytes in use over time.
    MemoryTimeline(MemoryTimeline),
}

/// Reads one file of any sort: a trace as in [`read`], a snapshot of one, a Chakra trace, a memory snapshot, or
/// a memory timeline.
///
/// # Errors
/// As in [`read`], and those of [`read_snapshot`](snapshot::read_snapshot).
pub fn read_file(mut input: Input<'_>, limits: Limits) -> Result<Recording, Error> {
    let (name, watch) = (input.name, input.watch.take());
    let mut window = container::open(input, limits)?;
    match sniff(window.text()) {
        Container::Snapshot => {
            window.gather()?;
            let trace = snapshot::read_snapshot(window.text(), limits);
            trace.map(Recording::of).map_err(|error| error.of_snapshot(name))
        }
        #[cfg(feature = "chakra")]
        Container::Chakra => chakra::read_chakra(window, name).map(Recording::Chakra),
        #[cfg(feature = "chakra")]
        Container::ChakraJson => {
            container::skip_mark(&mut window);
            window.gather()?;
            graph::read_graph(&window, name).map(Recording::Chakra)
        }
        Container::Pickle | Container::MemorySnapshot => {
            container::skip_mark(&mut window);
            window.gather()?;
            let snapshot = memory::read_memory_snapshot(window.text(), name.map(Arc::from))?;
            Ok(Recording::MemorySnapshot(Box::new(snapshot)))
        }
        Container::MemoryTimeline => {
            container::skip_mark(&mut window);
            window.gather()?;
            timeline::read_memory_timeline(&window, name.map(Arc::from)).map(Recording::MemoryTimeline)
        }
        _ => {
            let mut builder = Builder::default();
            read_window(window, name, watch, limits, &mut builder)?;
            builder.finish().map(Recording::of)
        }
    }
}

impl Recording {
    fn of(trace: Trace) -> Self {
        Self::Trace(Box::new(trace))
    }
}

/// Reads the files of one rank: a Kineto trace, an Execution Trace, or both, in any order. An export of Nsight Systems
/// is read as the Kineto trace that it would be.
///
/// Metrics that `ks.profile` sampled (`metrics_<rank>.jsonl`) may be given with them: they become counters.
///
/// Files are told apart by their content, not by their names. Defects that can be survived are counted in
/// [`Trace::warnings`].
///
/// # Errors
/// When a file is no trace at all, when two files are of the same sort, or when a limit is passed.
///
/// ```
/// use kinetoscope::{Input, Limits, read};
/// let json = br#"{"traceEvents": [{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5.1, "dur": 2}]}"#;
/// let trace = read([Input::new(json)], Limits::default())?;
/// assert_eq!(trace.events.start[0].0, 5_100);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn read<'a>(inputs: impl IntoIterator<Item = Input<'a>>, limits: Limits) -> Result<Trace, Error> {
    let mut builder = Builder::default();
    for mut input in inputs {
        let (name, watch) = (input.name, input.watch.take());
        read_window(container::open(input, limits)?, name, watch, limits, &mut builder)?;
    }
    builder.finish()
}

fn read_window(
    mut window: Window<'_>,
    name: Option<&str>,
    watch: Option<Watch<'_>>,
    limits: Limits,
    builder: &mut Builder,
) -> Result<(), Error> {
    #[cfg(feature = "nsight")]
    if sniff(window.text()) == Container::Sqlite {
        window.gather()?;
        let database = nsight::Database::in_memory(window.text(), name)?;
        drop(window);
        return nsight::read_export(database, watch, limits, builder);
    }
    #[cfg(not(feature = "nsight"))]
    let _ = watch;
    if sniff(window.text()) == Container::Metrics {
        window.gather()?;
        builder.metrics = window.text().to_vec();
        return Ok(());
    }
    container::expect_json(&mut window, name)?;
    read_text(window, name, limits, builder)
}

/// Reads the text that a window stands before, while another thread brings it where there may be one.
fn read_text(window: Window<'_>, name: Option<&str>, limits: Limits, builder: &mut Builder) -> Result<(), Error> {
    let mut read = |window| document::read_document(window, name.map(Arc::from), builder);
    if limits.max_threads > 1 { pipe::read_beside(window, read).map_err(container::unreadable)? } else { read(window) }
}
