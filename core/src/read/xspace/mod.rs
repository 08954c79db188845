//! Reads profiles of XLA (`*.xplane.pb`), which JAX, TensorFlow and `PyTorch/XLA` write.
//!
//! The file is an `XSpace` in protobuf (`xplane.proto`, package `tensorflow.profiler`, in the
//! repository `openxla/xla`). It has planes, one for each device and one for the host; a plane has
//! lines, one for each thread or stream; a line has events. Names of events, and of their stats,
//! are in tables behind the lines. So a plane is in memory as a whole, one at a time.
//!
//! Planes become processes, lines threads, stats arguments. `vendor` knows what they mean, as for
//! the Chrome trace beside such a file.

mod about;
mod export;
mod field;
mod line;
mod messages;
mod plane;
mod span;
mod stat;

use super::builder::TraceBuilder;
use super::exported::{ExportWalk, read_exported};
use super::input::{Limits, ReadProgress};
use super::text_window::TextWindow;
use crate::error::Error;
use export::SpaceExport;

/// Reads a profile from the messages that a window stands before.
pub(super) fn read_xspace<'a>(
    window: TextWindow<'a>,
    name: Option<&str>,
    watch: Option<ReadProgress<'a>>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    let export = SpaceExport::new(window, name, limits.include_environment);
    read_exported(ExportWalk::new(export, watch), name, limits, builder)
}
