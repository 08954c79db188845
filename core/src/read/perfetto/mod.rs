//! Reads traces of Perfetto (`.pftrace`): packets of protobuf that become the events of a Kineto
//! trace.
//!
//! An event like none before becomes the text of an element of Chrome's format, and is read as
//! such; later ones that differ in times and numbers alone need no text.
//!
//! Slices, instants and counters of track events come from any program. Work on devices comes as
//! stages of rendering, with streams as queues: `PyTorch` writes its kernels so. Packets refer to
//! texts and defaults that earlier packets of their sequence gave.

mod annotation;
mod arrow;
mod batch;
mod clock;
mod counter;
mod counter_value;
mod flow;
mod intern;
mod lane;
mod packet;
mod packet_key;
mod packets;
mod part;
mod reader;
mod render_stage;
mod rows;
mod slice;
mod slice_run;
mod stage;
mod stats;
mod stream;
mod target;
mod thread_count;
mod track;
mod track_event;

use std::borrow::Cow;
use std::sync::Arc;

use super::builder::TraceBuilder;
use super::document::read_document;
use super::input::{Limits, ReadProgress};
use super::text_window::TextWindow;
use crate::error::Error;
use reader::PerfettoReader;

/// Reads a trace from the packets that a window stands before, on two threads where they may be
/// made.
pub(super) fn read_perfetto(
    window: TextWindow<'_>,
    name: Option<&str>,
    watch: Option<ReadProgress<'_>>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    let file: Option<Arc<str>> = name.map(Arc::from);
    // A stream is watched where it comes from.
    let watch = watch.filter(|_| window.is_last());
    let header = PerfettoReader::new(window, file.clone(), limits, builder).read(limits.max_threads, watch)?;
    read_document(TextWindow::over(Cow::Owned(header), limits)?, file, limits, builder)
}
