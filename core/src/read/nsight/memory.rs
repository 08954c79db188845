//! Converts allocations of device memory.

use super::device::word;
use super::device_streams::process;
use super::export_state::ExportState;
use super::row::SqlRow;
use super::row_kind::RowKind;
use crate::time::Ts;

pub(super) const ALLOCATION: RowKind = RowKind {
    table: "CUDA_GPU_MEMORY_USAGE_EVENTS",
    takes: &["start", "globalPid", "deviceId", "address", "bytes", "memoryOperationType"],
    has_rest: true,
    write: allocation,
};

/// The code of a free in `memoryOperationType`; the other one is an allocation.
const FREE: i64 = 1;

/// Kineto's number of the CUDA device type.
const CUDA: i64 = 1;

fn allocation(row: &SqlRow<'_>, state: &mut ExportState) {
    let [start, global_pid, device, address, bytes, operation] = row.taken();
    let operation = operation.integer();
    let sign = if operation == Some(FREE) { -1 } else { 1 };
    let operation = word(&["Allocation", "Deallocation"], "ENUM_CUDA_DEV_MEM_EVENT_OPER", operation, state);
    let process = global_pid.integer().map(process);
    state.element(|event, known| {
        event.text("ph", b"i");
        event.text("cat", b"cpu_instant_event");
        event.text("name", b"[memory]");
        event.text("s", b"t");
        if let Some(process) = process {
            event.integer("pid", process);
            event.integer("tid", 0);
        }
        if let Some(start) = start.integer() {
            event.micros("ts", Ts(start));
        }
        event.object("args", |args| {
            args.integer("Device Type", CUDA);
            if let Some(device) = device.integer() {
                args.integer("Device Id", known.places.gpu(process, device));
            }
            if let Some(bytes) = bytes.integer() {
                args.integer("Bytes", bytes.saturating_mul(sign));
            }
            args.text("operation", &operation);
            address.write_plain("Addr", args);
            row.write_rest(&mut known.names, args);
        });
    });
}
