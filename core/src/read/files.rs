//! Reads files: recognises each by its content and passes it to its reader.

use std::io::Cursor;
use std::sync::Arc;

use super::builder::TraceBuilder;
use super::container::{Container, sniff};
use super::database::read_database_into;
use super::input::{Input, Limits, ReadProgress};
use super::json_text::read_text;
use super::perfetto::read_perfetto;
use super::recording::Recording;
use super::text_window::TextWindow;
#[cfg(feature = "chakra")]
use super::{chakra, graph};
use super::{flight, memory, open, pickle, snapshot, timeline};
use crate::error::Error;
use crate::trace::Trace;

/// Reads one file of any sort: a trace as in [`read`], a snapshot of one, a Chakra trace, a memory
/// snapshot, a memory timeline, or a flight recorder.
///
/// # Errors
/// As in [`read`], and those of [`read_snapshot`](snapshot::read_snapshot).
pub fn read_file(mut input: Input<'_>, limits: Limits) -> Result<Recording, Error> {
    let (name, watch) = (input.name, input.watch.take());
    read_any(input, name, watch, limits).map_err(|error| error.in_file(name))
}

fn read_any(
    input: Input<'_>,
    name: Option<&str>,
    watch: Option<ReadProgress<'_>>,
    limits: Limits,
) -> Result<Recording, Error> {
    let mut window = open::open(input, limits)?;
    match sniff(window.text()) {
        Container::Snapshot => {
            window.gather()?;
            let trace = snapshot::read_snapshot(window.text(), limits);
            trace.map(Recording::of)
        }
        #[cfg(feature = "chakra")]
        Container::Chakra => chakra::read_chakra(window, name).map(Recording::Chakra),
        #[cfg(feature = "chakra")]
        Container::ChakraJson => {
            open::skip_mark(&mut window);
            window.gather()?;
            graph::read_graph(&window, name).map(Recording::Chakra)
        }
        Container::Pickle | Container::MemorySnapshot | Container::FlightRecorder => {
            open::skip_mark(&mut window);
            window.gather()?;
            read_pickled(window.text(), name.map(Arc::from))
        }
        Container::MemoryTimeline => {
            open::skip_mark(&mut window);
            window.gather()?;
            timeline::read_memory_timeline(&window, name.map(Arc::from)).map(Recording::MemoryTimeline)
        }
        _ => {
            let mut builder = TraceBuilder::default();
            read_window(window, name, watch, limits, &mut builder)?;
            builder.finish().map(Recording::of)
        }
    }
}

/// Reads plain data: a pickle, or JSON of the same structure.
fn read_pickled(bytes: &[u8], file: Option<Arc<str>>) -> Result<Recording, Error> {
    let values = match sniff(bytes) {
        Container::MemorySnapshot => pickle::parse(bytes, file.as_ref(), "a memory snapshot in JSON"),
        Container::FlightRecorder => pickle::parse(bytes, file.as_ref(), "a flight recorder in JSON"),
        _ => pickle::read_pickle(bytes, file.as_ref()),
    }?;
    if flight::is_dump(&values.values, values.root) {
        let recorder = flight::read_flight_recorder(values, bytes.len(), file);
        return Ok(Recording::FlightRecorder(Box::new(recorder)));
    }
    let snapshot = memory::read_memory_snapshot(values, bytes.len(), file)?;
    Ok(Recording::MemorySnapshot(Box::new(snapshot)))
}

/// Reads the files of one rank: a Kineto trace, an Execution Trace, or both, in any order. An
/// export of Nsight Systems is read as the Kineto trace that it would be.
///
/// Metrics that `ks.profile` sampled (`metrics_<rank>.jsonl`) may be given with them: they become
/// counters.
///
/// Files are recognized by their content, not by their names. Defects that can be survived are
/// counted in [`Trace::warnings`].
///
/// # Errors
/// When a file is no trace at all, when two files are of the same sort, or when a limit is passed.
///
/// ```
/// use kinetoscope::{Input, Limits, read};
/// let json = br#"{"traceEvents": [{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5.1, "dur": 2}]}"#;
/// let trace = read([Input::new(json)], Limits::default())?;
/// assert_eq!(trace.events.start.at(0).0, 5_100);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn read<'a>(inputs: impl IntoIterator<Item = Input<'a>>, limits: Limits) -> Result<Trace, Error> {
    let mut builder = TraceBuilder::default();
    for mut input in inputs {
        let (name, watch) = (input.name, input.watch.take());
        let window = open::open(input, limits);
        let outcome = window.and_then(|window| read_window(window, name, watch, limits, &mut builder));
        outcome.map_err(|error| error.in_file(name))?;
    }
    builder.finish()
}

pub(super) fn read_window(
    mut window: TextWindow<'_>,
    name: Option<&str>,
    watch: Option<ReadProgress<'_>>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    if sniff(window.text()) == Container::Sqlite {
        window.gather()?;
        // All of it is in memory by now: nothing more is read of the file.
        let watch = watch.map(|mut tell| -> ReadProgress<'_> { Box::new(move |_| tell(0)) });
        return read_database_into(Cursor::new(window.text()), name, watch, limits, builder);
    }
    if sniff(window.text()) == Container::Perfetto {
        return read_perfetto(window, name, watch, limits, builder);
    }
    #[cfg(feature = "xspace")]
    if sniff(window.text()) == Container::XSpace {
        return super::xspace::read_xspace(window, name, watch, limits, builder);
    }
    if sniff(window.text()) == Container::Metrics {
        window.gather()?;
        builder.metrics = window.text().to_vec();
        return Ok(());
    }
    open::expect_json(&mut window, name)?;
    read_text(window, name, limits, builder)
}
