//! Splits packets, ahead of a thread that takes them where there may be one.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SendError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread;

use super::packet::PerfettoPacket;
use super::packet_key::PacketKey;
use super::packets::PerfettoPackets;
use super::thread_count::ThreadCounts;
use crate::error::Error;
use crate::perfetto::packet;
use crate::threads;
use crate::warning::WarningKind;

/// Packets and their bytes of one batch: few enough for the nearest memory of a processor.
const MAX_PACKETS: usize = 1 << 10;
const MAX_BYTES: usize = 1 << 18;

/// Batches that may wait to be taken.
const MAX_WAITING: usize = 4;

/// Packets that were split one after the other.
#[derive(Debug, Default)]
pub(super) struct PacketBatch {
    packets: Vec<BatchPacket>,
    bytes: Vec<u8>,
    /// The keys of all of them, one behind the other.
    keys: PacketKey,
}

/// A packet of a batch.
#[derive(Debug)]
struct BatchPacket {
    packet: PerfettoPacket,
    offset: u64,
    fault: Option<WarningKind>,
    ends: BatchEnds,
}

/// Where bytes, key and numbers of a packet end among those of its batch, which is small.
#[derive(Debug, Clone, Copy, Default)]
struct BatchEnds {
    bytes: u32,
    key: u32,
    values: u32,
}

/// A packet that was split.
#[derive(Debug, Clone, Copy)]
pub(super) struct SplitPacket<'p> {
    pub(super) packet: &'p PerfettoPacket,
    pub(super) bytes: &'p [u8],
    /// The part of its key that annotations or arguments give, and their numbers.
    pub(super) key: (&'p [u8], &'p [i64]),
    /// Where it stands in its file.
    pub(super) offset: u64,
    /// Its defect, if it could not be unpacked.
    pub(super) fault: Option<WarningKind>,
}

impl PacketBatch {
    /// Number of packets.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// All packets.
    pub(super) fn iter(&self) -> impl Iterator<Item = SplitPacket<'_>> {
        let mut start = BatchEnds::default();
        self.packets.iter().map(move |BatchPacket { packet, offset, fault, ends }| {
            let begin = std::mem::replace(&mut start, *ends);
            SplitPacket {
                packet,
                bytes: &self.bytes[begin.bytes as usize..ends.bytes as usize],
                key: (
                    &self.keys.bytes[begin.key as usize..ends.key as usize],
                    &self.keys.values[begin.values as usize..ends.values as usize],
                ),
                offset: *offset,
                fault: *fault,
            }
        })
    }

    /// Replaces the packets by the next ones of a file; false at its end.
    fn fill(&mut self, packets: &mut PerfettoPackets<'_>, counts: &mut ThreadCounts) -> Result<bool, Error> {
        self.packets.clear();
        self.bytes.clear();
        self.keys.clear();
        while self.len() < MAX_PACKETS && self.bytes.len() < MAX_BYTES && self.add(packets, counts)? {}
        Ok(self.len() > 0)
    }

    fn add(&mut self, packets: &mut PerfettoPackets<'_>, counts: &mut ThreadCounts) -> Result<bool, Error> {
        let offset = packets.offset();
        let Some(bytes) = packets.next()? else { return Ok(false) };
        let start = self.bytes.len();
        let packet = PerfettoPacket::new(bytes, &mut self.keys, counts);
        self.bytes.extend_from_slice(bytes);
        let mut fault = None;
        if let Some((packet::COMPRESSED, compressed)) = packet.content {
            let is_whole = packets.unpack(compressed.of(&self.bytes[start..]));
            fault = (!is_whole).then_some(WarningKind::DamagedCompression);
        }
        let ends = [self.bytes.len(), self.keys.bytes.len(), self.keys.values.len()].map(|end| end as u32);
        let [bytes, key, values] = ends;
        self.packets.push(BatchPacket { packet, offset, fault, ends: BatchEnds { bytes, key, values } });
        Ok(true)
    }
}

/// Gives all packets of a file to `take`, batch by batch.
pub(super) fn each_batch(
    packets: &mut PerfettoPackets<'_>,
    max_threads: usize,
    mut take: impl FnMut(&PacketBatch) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    if threads::ARE_THERE
        && max_threads > 1
        && let Some(outcome) = each_beside(packets, &mut take)
    {
        return outcome;
    }
    let (mut batch, mut counts) = (PacketBatch::default(), ThreadCounts::default());
    while batch.fill(packets, &mut counts)? {
        take(&batch)?;
    }
    Ok(())
}

/// The same, with a thread that takes packets. This one, to which the file may belong, splits them.
/// `None` where no thread can be made.
fn each_beside(
    packets: &mut PerfettoPackets<'_>,
    take: &mut (impl FnMut(&PacketBatch) -> Result<(), Error> + Send),
) -> Option<Result<(), Error>> {
    let (full, arriving) = sync_channel::<PacketBatch>(MAX_WAITING);
    let (taken, free) = sync_channel::<PacketBatch>(MAX_WAITING);
    let take_all = move || {
        std::iter::from_fn(|| receive(&arriving)).try_for_each(|batch| {
            take(&batch)?;
            // Batches that were taken are filled again, so that their memory is.
            drop(taken.try_send(batch));
            Ok(())
        })
    };
    thread::scope(|scope| {
        let taker = thread::Builder::new().spawn_scoped(scope, take_all).ok()?;
        let outcome = split_all(packets, full, &free);
        let taken = taker.join().unwrap_or_else(|panic| resume_unwind(panic));
        Some(taken.and(outcome))
    })
}

/// Sends all packets of a file, in batches that were taken or in new ones.
#[expect(clippy::needless_pass_by_value, reason = "all have been sent when the sender is dropped")]
fn split_all(
    packets: &mut PerfettoPackets<'_>,
    full: SyncSender<PacketBatch>,
    free: &Receiver<PacketBatch>,
) -> Result<(), Error> {
    let mut counts = ThreadCounts::default();
    loop {
        let mut batch = free.try_recv().unwrap_or_default();
        // When nobody takes batches any more, there is an answer already.
        if !batch.fill(packets, &mut counts)? || send(&full, batch).is_err() {
            return Ok(());
        }
    }
}

/// Sends a batch, and stays awake while it waits: where threads wake each other up all the time,
/// the system may leave both on one processor.
fn send(full: &SyncSender<PacketBatch>, mut batch: PacketBatch) -> Result<(), SendError<PacketBatch>> {
    for _ in 0..MAX_YIELDS {
        match full.try_send(batch) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Disconnected(batch)) => return Err(SendError(batch)),
            Err(TrySendError::Full(back)) => batch = back,
        }
        thread::yield_now();
    }
    full.send(batch)
}

/// The next batch; none when all came. Stays awake, too.
fn receive(arriving: &Receiver<PacketBatch>) -> Option<PacketBatch> {
    for _ in 0..MAX_YIELDS {
        match arriving.try_recv() {
            Ok(batch) => return Some(batch),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => thread::yield_now(),
        }
    }
    arriving.recv().ok()
}

/// A few milliseconds, in which several batches are split or taken.
const MAX_YIELDS: usize = 10_000;
