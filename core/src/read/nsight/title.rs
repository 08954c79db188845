//! What processes and threads are called, and which GPU a process means.

use super::place::{process, thread};
use super::row::Row;
use super::scene::Scene;
use super::sort::Sort;

pub(super) const GPU: Sort = Sort {
    table: "TARGET_INFO_CUDA_DEVICE",
    takes: &["pid", "cudaId", "gpuId"],
    has_rest: false,
    write: |row, scene| {
        let [pid, cuda, gpu] = row.taken();
        if let (Some(pid), Some(cuda), Some(gpu)) = (pid.integer(), cuda.integer(), gpu.integer()) {
            scene.known.places.gpus.insert((pid, cuda), gpu);
        }
    },
};

pub(super) const PROCESS: Sort = Sort {
    table: "PROCESSES",
    takes: &["globalPid", "name"],
    has_rest: false,
    write: |row, scene| {
        let [id, name] = row.taken();
        let name = name.name(&mut scene.known.names);
        if let Some(id) = id.integer() {
            scene.metadata("process_name", (process(id), 0), &name);
        }
    },
};

pub(super) const THREAD: Sort =
    Sort { table: "ThreadNames", takes: &["globalTid", "nameId"], has_rest: false, write: name_thread };

fn name_thread(row: &Row<'_>, scene: &mut Scene) {
    let [id, name] = row.taken();
    let name = name.name(&mut scene.known.names);
    if let Some(id) = id.integer() {
        scene.metadata("thread_name", (process(id), thread(id)), &name);
    }
}
