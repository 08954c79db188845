//! Launch configurations of kernels: grid, block and occupancy.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::resident_blocks::{BlockNeeds, MultiprocessorLimits, ResidentBlocks};
use super::selection::Selection;
use crate::id::TemplateId;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// The launch configuration of a kernel's longest run, and the mean occupancy of all runs by
/// duration.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LaunchConfig {
    /// Blocks of the longest run: the product of `grid`.
    pub blocks: Option<i64>,
    /// Threads of each of its blocks: the product of `block`.
    pub threads: Option<i64>,
    /// Blocks of each of its clusters: the product of `cluster`.
    pub cluster_size: Option<i64>,
    /// Its `registers per thread`.
    pub registers: Option<i64>,
    /// Its `shared memory` a block.
    pub shared_memory_bytes: Option<i64>,
    /// `est. achieved occupancy %` of the runs that have it.
    pub(super) occupancy: WeightedMean,
    /// `min(blocks per multiprocessor, 1)` of the runs that have it.
    pub(super) sm_efficiency: WeightedMean,
    /// Blocks of the longest run that a multiprocessor holds.
    pub(super) resident: Option<ResidentBlocks>,
    /// Blocks of the longest run for each multiprocessor of the device.
    pub(super) blocks_per_sm: Option<f64>,
    /// Threads of the blocks that a multiprocessor holds over those that it can hold, in percent.
    pub theoretical_occupancy: Option<f64>,
    /// How often the longest run filled the device: `blocks / (multiprocessors · blocks that one
    /// holds at a time)`, where the occupancy says how many it holds; 1 where all its blocks run at
    /// once, which is when the occupancy is no less than that of all of them.
    pub waves: Option<f64>,
}

/// The properties of a device that a file records.
#[derive(Debug, Clone, Copy)]
struct DeviceCapacity {
    num_sms: f64,
    /// Threads that a multiprocessor holds.
    max_threads: f64,
}

/// Occupancies are recorded in whole percents.
const ROUNDED_PERCENT: f64 = 0.5;

/// Reads launch configurations.
pub(super) struct LaunchConfigReader<'a> {
    trace: &'a Trace,
    devices: FxHashMap<i64, DeviceCapacity>,
    limits: FxHashMap<i64, MultiprocessorLimits>,
    /// Products of `grid`, `block` and `cluster`, by template.
    sizes: FxHashMap<TemplateId, [Option<i64>; 3]>,
}

impl<'a> LaunchConfigReader<'a> {
    pub(super) fn new(trace: &'a Trace) -> Self {
        let device = |value: &Value| {
            let number = |key: &str| value.get(key).and_then(Value::as_f64).filter(|number| *number > 0.0);
            let max_threads = number("maxThreadsPerMultiprocessor")?;
            Some((value.get("id")?.as_i64()?, DeviceCapacity { num_sms: number("numSms")?, max_threads }))
        };
        let properties = trace.device_properties();
        let devices = properties.iter().filter_map(device).collect();
        let vendor = (!properties.is_empty()).then(|| trace.vendor()).flatten();
        let limits = properties.iter().filter_map(|value| {
            let limits = MultiprocessorLimits::of(value, vendor?)?;
            Some((value.get("id")?.as_i64()?, limits))
        });
        Self { trace, devices, limits: limits.collect(), sizes: FxHashMap::default() }
    }

    /// All runs of a kernel together; `longest` is one of them.
    pub(super) fn ran(&mut self, selection: &Selection<'_>, rows: &[usize], longest: usize) -> LaunchConfig {
        let (mut occupancy, mut efficiency) = (WeightedMean::default(), WeightedMean::default());
        for row in rows {
            let dur = selection.dur_ns(*row);
            // A kernel that runs occupies something: 0 stands for unknown.
            occupancy.add(self.float(*row, ArgKey::Occupancy).filter(|percent| *percent > 0.0), dur);
            efficiency.add(self.blocks_per_sm(*row).map(|blocks| blocks.min(1.0)), dur);
        }
        let [blocks, threads, cluster_size] = self.sizes(longest);
        let limits = self.trace.device(longest).and_then(|device| self.limits.get(&device).copied());
        let resident = self.resident(limits, threads, longest);
        LaunchConfig {
            blocks,
            threads,
            cluster_size,
            registers: self.integer(longest, ArgKey::Registers),
            shared_memory_bytes: self.integer(longest, ArgKey::SharedMemory),
            occupancy,
            sm_efficiency: efficiency,
            resident,
            blocks_per_sm: self.blocks_per_sm(longest),
            theoretical_occupancy: (|| limits?.occupancy(resident?, threads?))(),
            waves: self.waves(longest),
        }
    }

    /// The recorded blocks of a run on a multiprocessor, else those that its resources allow.
    fn resident(
        &self,
        limits: Option<MultiprocessorLimits>,
        threads: Option<i64>,
        row: usize,
    ) -> Option<ResidentBlocks> {
        let mut recorded = String::new();
        let args = self.trace.events.args(row);
        self.trace.args.write_text(&self.trace.strings, args, ArgKey::OccupancyFacts, &mut recorded);
        ResidentBlocks::recorded(&recorded).or_else(|| {
            let needs = BlockNeeds {
                threads: threads?,
                registers: self.integer(row, ArgKey::Registers)?,
                shared_memory: self.integer(row, ArgKey::SharedMemory)?,
            };
            ResidentBlocks::computed(&limits?, needs)
        })
    }

    fn waves(&mut self, row: usize) -> Option<f64> {
        let per_sm = self.blocks_per_sm(row)?;
        if per_sm <= 1.0 {
            return Some(1.0);
        }
        let percent = self.float(row, ArgKey::Occupancy).filter(|percent| *percent > 0.0)?;
        let max_threads = self.devices.get(&self.trace.device(row)?)?.max_threads;
        let threads = self.sizes(row)[1].filter(|threads| *threads > 0)? as f64;
        // Where everything runs at once, the occupancy is that of the grid, and says nothing of how
        // much would fit.
        let of_grid = 100.0 * per_sm * threads / max_threads;
        if (of_grid - percent).abs() <= ROUNDED_PERCENT {
            return Some(1.0);
        }
        let num_held = (percent / 100.0 * max_threads / threads).round().max(1.0);
        Some((per_sm / num_held).max(1.0))
    }

    /// `blocks per SM`, or the blocks over the device's multiprocessors.
    fn blocks_per_sm(&mut self, row: usize) -> Option<f64> {
        let recorded = self.float(row, ArgKey::BlocksPerSm);
        let blocks = recorded.or_else(|| {
            let device = *self.devices.get(&self.trace.device(row)?)?;
            Some(self.sizes(row)[0]? as f64 / device.num_sms)
        });
        // A kernel has blocks: 0 stands for unknown.
        blocks.filter(|blocks| *blocks > 0.0)
    }

    fn sizes(&mut self, row: usize) -> [Option<i64>; 3] {
        let trace = self.trace;
        let product = |key| {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row), key, &mut text);
            let sizes: Vec<i64> = serde_json::from_str(&text).ok()?;
            let product = sizes.iter().copied().reduce(i64::saturating_mul);
            // 0 stands for unknown, and for a launch without clusters.
            product.filter(|product| *product > 0)
        };
        let new = || [ArgKey::Grid, ArgKey::Block, ArgKey::Cluster].map(product);
        *self.sizes.entry(trace.events.template.at(row)).or_insert_with(new)
    }

    fn float(&self, row: usize, key: ArgKey) -> Option<f64> {
        self.trace.args.float(&self.trace.strings, self.trace.events.args(row), key)
    }

    fn integer(&self, row: usize, key: ArgKey) -> Option<i64> {
        self.trace.args.integer(&self.trace.strings, self.trace.events.args(row), key)
    }
}

/// A mean of values over time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct WeightedMean {
    sum: f64,
    weight: f64,
}

impl WeightedMean {
    pub(super) fn add(&mut self, value: Option<f64>, dur_ns: i64) {
        if let Some(value) = value {
            // Runs without a duration count only if no run has one.
            let weight = (dur_ns as f64).max(f64::MIN_POSITIVE);
            self.sum += value * weight;
            self.weight += weight;
        }
    }

    /// The mean of the values of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, weight: self.weight + other.weight }
    }

    pub(super) fn mean(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight).filter(|mean| mean.is_finite())
    }
}
