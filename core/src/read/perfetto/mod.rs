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
use super::wire::{WireFields, WireValue, varint};
use crate::error::Error;
use crate::perfetto::{LAST_FIELD, PACKET_TAG};
use export::PerfettoExport;

/// Whether a file with these first bytes is a trace of Perfetto: it has packets alone (field 1),
/// and they start with a field of a number that Perfetto uses.
pub(super) fn is_perfetto(head: &[u8]) -> bool {
    let Some((length, packet)) = head.strip_prefix(&[PACKET_TAG]).and_then(varint) else { return false };
    let Some((first, _)) = WireFields::new(packet).next().or_else(|| cut_field(packet)) else { return false };
    let next = usize::try_from(length).ok().and_then(|length| packet.get(length));
    length > 0 && (1..=LAST_FIELD).contains(&first) && next.is_none_or(|byte| *byte == PACKET_TAG)
}

/// The number of a message's first field whose bytes go on behind the end.
fn cut_field(message: &[u8]) -> Option<(u32, WireValue<'_>)> {
    let (tag, rest) = varint(message)?;
    let (length, _) = varint(rest)?;
    let is_cut = tag & 7 == 2 && length > rest.len() as u64;
    is_cut.then_some((u32::try_from(tag >> 3).ok()?, WireValue::Bytes(rest)))
}

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
