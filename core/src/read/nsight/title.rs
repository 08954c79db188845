//! Converts names of processes, threads and GPUs.

use super::device_streams::{process, thread};
use super::export_state::ExportState;
use super::row::SqlRow;
use super::row_kind::RowKind;

pub(super) const GPU: RowKind = RowKind {
    table: "TARGET_INFO_CUDA_DEVICE",
    takes: &["pid", "cudaId", "gpuId"],
    has_rest: false,
    write: |row, state| {
        let [pid, cuda, gpu] = row.taken();
        if let (Some(pid), Some(cuda), Some(gpu)) = (pid.integer(), cuda.integer(), gpu.integer()) {
            state.known.places.gpus.insert((pid, cuda), gpu);
        }
    },
};

pub(super) const PROCESS: RowKind = RowKind {
    table: "PROCESSES",
    takes: &["globalPid", "name"],
    has_rest: false,
    write: |row, state| {
        let [id, name] = row.taken();
        let name = name.name(&mut state.known.names);
        if let Some(id) = id.integer() {
            let name = if state.known.keeps_environment { &name } else { program(&name) };
            state.events.metadata("process_name", (process(id), 0), name);
        }
    },
};

/// The program of a command line, without its folder: arguments may hold secrets.
fn program(command: &[u8]) -> &[u8] {
    let program = command.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or_default();
    program.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default()
}

pub(super) const THREAD: RowKind =
    RowKind { table: "ThreadNames", takes: &["globalTid", "nameId"], has_rest: false, write: name_thread };

fn name_thread(row: &SqlRow<'_>, state: &mut ExportState) {
    let [id, name] = row.taken();
    let name = name.name(&mut state.known.names);
    if let Some(id) = id.integer() {
        state.events.metadata("thread_name", (process(id), thread(id)), &name);
    }
}
