//! Maps processes, threads, devices and streams to `pid` and `tid` as Kineto does.

use rustc_hash::FxHashMap;

use crate::read::json_object::JsonObject;

/// Devices and streams seen so far.
#[derive(Debug, Default)]
pub(in crate::read) struct DeviceStreams {
    /// The GPU that a process knows under its own number.
    pub(super) gpus: FxHashMap<(i64, i64), i64>,
    /// The process whose events were the first on a stream.
    owners: FxHashMap<(i64, i64), Option<i64>>,
}

/// A stream of a device in a process.
#[derive(Debug, Clone, Copy)]
pub(in crate::read) struct ProcessStream {
    /// Number of the process, where the row has one.
    pub(in crate::read) process: Option<i64>,
    /// The device's number in the process.
    pub(in crate::read) device: Option<i64>,
    /// The stream's number in the process.
    pub(in crate::read) number: Option<i64>,
}

/// The process in a serialized id (`globalTid`, `globalPid`).
pub(super) fn process(global: i64) -> i64 {
    global >> 24 & 0xFF_FFFF
}

/// The thread in a serialized id (`globalTid`).
pub(super) fn thread(global: i64) -> i64 {
    global & 0xFF_FFFF
}

/// Writes a thread.
pub(super) fn write_thread(event: &mut JsonObject<'_>, global_tid: Option<i64>) {
    if let Some(id) = global_tid {
        event.integer("pid", process(id));
        event.integer("tid", thread(id));
    }
}

impl DeviceStreams {
    /// The number of the GPU that a process means.
    pub(super) fn gpu(&self, process: Option<i64>, device: i64) -> i64 {
        process.and_then(|process| self.gpus.get(&(process, device)).copied()).unwrap_or(device)
    }

    /// Writes a stream: the device in the process's place. Streams are numbered anew in every
    /// process, so those of other processes than the first have its number beside theirs.
    pub(in crate::read) fn write_stream(&mut self, event: &mut JsonObject<'_>, at: ProcessStream) {
        let Some(device) = at.device.map(|device| self.gpu(at.process, device)) else { return };
        event.integer("pid", device);
        let Some(stream) = at.number.map(signed) else { return };
        let owner = *self.owners.entry((device, stream)).or_insert(at.process);
        match at.process {
            Some(process) if owner != at.process => {
                event.text("tid", format!("stream {stream} of process {process}").as_bytes());
            }
            _ => event.integer("tid", stream),
        }
    }

    /// Writes the same facts as arguments, with the owner of the stream.
    pub(in crate::read) fn write_args(&self, args: &mut JsonObject<'_>, at: ProcessStream) {
        if let Some(device) = at.device {
            let gpu = self.gpu(at.process, device);
            args.integer("device", gpu);
            if gpu != device {
                args.integer("CUDA device", device);
            }
        }
        if let Some(stream) = at.number {
            args.integer("stream", signed(stream));
        }
        if let Some(process) = at.process {
            args.integer("process id", process);
        }
    }
}

/// A stream that is none has all 32 bits set.
fn signed(stream: i64) -> i64 {
    if stream == i64::from(u32::MAX) { -1 } else { stream }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serialized_id_is_machine_process_thread() {
        let id = (1 << 56) + (5000 << 24) + 5001;
        assert_eq!((process(id), thread(id)), (5000, 5001));
        assert_eq!((process(-1), thread(-1)), (0xFF_FFFF, 0xFF_FFFF));
    }
}
