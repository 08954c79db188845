//! Tables whose columns the report reads, by names that the compiler checks.

pub(crate) use super::breakdown::phase::TABLE as PHASES;
pub(crate) use super::breakdown::row::TABLE as BREAKDOWN;
pub(crate) use super::collective::skew::TABLE as COLLECTIVE_SKEW;
pub(crate) use super::collective::summary::TABLE as COLLECTIVE_SUMMARY;
pub(crate) use super::critical_path::job_path::RANKS as JOB_CRITICAL_PATH_RANKS;
pub(crate) use super::critical_path::row::{BOUND as CRITICAL_PATH_BOUND, NAMES as CRITICAL_PATH_OPERATORS};
pub(crate) use super::device::row::TABLE as ROOFLINE_DEVICE;
#[cfg(feature = "python-reports")]
pub(crate) use super::diff::tables as diff;
pub(crate) use super::finding::cost_overlap::TABLE as FINDING_TOTALS;
pub(crate) use super::finding::row::OF_TRACE as FINDINGS;
pub(crate) use super::finding::rules::RULES_TABLE as FINDING_RULES;
#[cfg(feature = "python-reports")]
pub(crate) use super::heatmap::cell::TABLE as HEATMAP;
#[cfg(feature = "machines")]
pub(crate) use super::heatmap::grouped::GROUPED as GROUPED_HEATMAP;
pub(crate) use super::idle::{GAPS, TABLE as IDLE};
pub(crate) use super::kernel::TABLE as KERNELS;
pub(crate) use super::kernel_class::TABLE as KERNELS_BY_CLASS;
pub(crate) use super::memory::allocation_life::{SnapshotAllocation, lives as snapshot_allocations};
pub(crate) use super::memory::bands::{
    BandAllocation, BandAxis, PLOT as BANDS_OVER_TIME, TABLE as MEMORY_BANDS, band_allocation, extent as memory_extent,
    memory_bands,
};
pub(crate) use super::memory::category::TABLE as MEMORY_CATEGORIES;
#[cfg(feature = "digest")]
pub(crate) use super::memory::growth::{AT_PEAK as MEMORY_PEAK_GROWTH, TABLE as MEMORY_GROWTH};
pub(crate) use super::memory::holder::TABLE as MEMORY_HOLDERS;
pub(crate) use super::memory::layout::{PLOT as LAYOUT_PLOT, TABLE as MEMORY_LAYOUT};
pub(crate) use super::memory::origin::site as memory_origin;
pub(crate) use super::memory::out_of_memory::TABLE as OUT_OF_MEMORY;
pub(crate) use super::memory::owner::TABLE as MEMORY_OWNERS;
pub(crate) use super::memory::pool::TABLE as MEMORY_POOLS;
pub(crate) use super::memory::row::TABLE as MEMORY;
pub(crate) use super::memory::snapshot::{SERIES as SNAPSHOT_SERIES, TABLE as SNAPSHOT_MEMORY, memory_without_bands};
pub(crate) use super::memory::snapshot_category::TABLE as SNAPSHOT_CATEGORIES;
pub(crate) use super::memory::snapshot_leak::{MIN_PASSES as MIN_LEAK_PASSES, TABLE as MEMORY_LEAKS};
pub(crate) use super::memory::state::{action_of_moment, memory_state_of};
pub(crate) use super::module::{CLASSES as MODULES_BY_CLASS, TABLE as MODULES};
pub(crate) use super::operator::TABLE as OPERATORS;
pub(crate) use super::overlap::TABLE as OVERLAP;
pub(crate) use super::pipeline::row::TABLE as PIPELINE;
pub(crate) use super::roofline::iteration::TABLE as ROOFLINE_ITERATIONS;
pub(crate) use super::roofline::row::{TABLE as ROOFLINE, UNMODELLED as ROOFLINE_UNMODELLED};
pub(crate) use super::straggler::late_collective::TABLE as LATE_ARRIVALS;
pub(crate) use super::straggler::row::TABLE as STRAGGLERS;
#[cfg(feature = "digest")]
pub(crate) use super::topology::lacking::TABLE as LACKING_COLLECTIVES;
#[cfg(feature = "machines")]
pub(crate) use super::topology::{
    group_row::TABLE as TOPOLOGY, pair_row::TABLE as WAITING_PAIRS, place_row::TABLE as RANK_PLACES,
};
#[cfg(feature = "digest")]
pub(crate) use super::verdict::PROBLEMS_TABLE as PROBLEMS;
