//! Reads traces of Perfetto (`.pftrace`): packets of protobuf that become the text of a Kineto
//! trace.
//!
//! Slices, instants and counters of track events come from any program. Work on devices comes as
//! stages of rendering, with streams as queues: `PyTorch` writes its kernels so. Packets refer to
//! texts and defaults that earlier packets of their sequence gave.

mod annotation;
mod arrow;
mod clock;
mod counter;
mod export;
mod flow;
mod intern;
mod lane;
mod packet;
mod packets;
mod slice;
mod slice_run;
mod stage;
mod stream;
mod target;
mod track;

use super::builder::TraceBuilder;
use super::exported::read_exported;
use super::input::{Limits, ReadProgress};
use super::text_window::TextWindow;
use crate::error::Error;
use export::PerfettoExport;

/// Reads a trace from the packets that a window stands before.
pub(super) fn read_perfetto<'a>(
    window: TextWindow<'a>,
    name: Option<&str>,
    watch: Option<ReadProgress<'a>>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    read_exported(PerfettoExport::new(window, name, watch, limits), name, limits, builder)
}
