//! Analyzes memory over time: peak, operators, modules and categories.

mod allocation;
pub(super) mod allocation_life;
pub(super) mod allocation_row;
mod allocator_record;
mod allocator_state;
mod band_stack;
pub(super) mod bands;
pub(super) mod category;
mod change;
mod device;
pub(super) mod growth;
mod history;
pub(super) mod holder;
pub(super) mod layout;
mod memory_total;
pub(super) mod origin;
pub(super) mod out_of_memory;
pub(super) mod owner;
pub(super) mod pool;
pub(super) mod row;
pub(super) mod snapshot;
pub(super) mod snapshot_category;
pub(super) mod snapshot_leak;
pub(super) mod state;
mod timeline;
mod trace_bands;
mod training_run;

use super::plot::Plot;
use super::result::AnalysisResult;
use crate::analyze::analysis::{Analysis, Run};
use crate::analyze::options::Options;
pub(super) use allocation::{Allocation, lives};
pub(super) use allocator_record::{AllocatorRecord, allocator_records, operator};
use change::SERIES;
pub use change::{MemoryChange, changes};
pub(super) use change::{MemoryLine, held};
pub use device::MemoryDevice;
pub(super) use device::device_name;
pub use growth::memory_growth;
pub use history::allocator_history;
use row::TABLE;
pub use row::{MemoryRow, memory};
pub use snapshot::memory_of_snapshot;
pub use state::memory_state;
pub use timeline::memory_of_timeline;

/// Memory over time.
pub(super) static MEMORY: Analysis = Analysis {
    name: "memory",
    doc: "device memory over time, its peak, and the operators, modules and lines that hold memory at the peak",
    options: &[],
    run: Run::Trace(|selection, _: &Options| {
        let changes = changes(selection);
        let devices = memory(&changes);
        let lives = lives(&held(selection, &changes), &changes);
        let owners = owner::owners(selection, &lives);
        let names = category::names(selection, &lives);
        let categories = category::categories(&lives, &names, &devices);
        let allocations = allocation_row::rows(selection, &lives, &names);
        let bands = trace_bands::bands(selection, (&changes, &devices), &lives, &names);
        AnalysisResult::of(&TABLE, devices, "no allocation was recorded (profile_memory=True records them)")
            .and(&SERIES, changes)
            .and(&owner::TABLE, owners)
            .and(&category::TABLE, categories)
            .and(&allocation_row::TABLE, allocations)
            .and(&bands::TRACE_TABLE, bands)
            .drawn_from(SERIES.name, Plot::Steps { time: "time_ns", value: "allocated_bytes", series: Some("device") })
    }),
};
