//! Blocks that a multiprocessor holds at a time, and the resources that allow no more.

use serde_json::Value;

use crate::vendor::{ResidencyRules, Vendor};

/// Names of the limits, in the order of their bits.
const LIMITS: [&str; 5] = ["threads", "registers", "shared memory", "blocks", "barriers"];

/// Keys of the recorded limits, in the same order.
const RECORDED: [&str; 5] =
    ["blockLimitWarps", "blockLimitRegs", "blockLimitSharedMem", "blockLimitBlocks", "blockLimitBarriers"];

/// The limit of a grid that is too small to reach any other one.
const GRID: &str = "grid";

/// Resources of a multiprocessor, by `deviceProperties`.
#[derive(Debug, Clone, Copy)]
pub(super) struct MultiprocessorLimits {
    warp_size: i64,
    max_threads: i64,
    registers: i64,
    shared_memory: i64,
    rules: ResidencyRules,
}

impl MultiprocessorLimits {
    /// The limits of a device; `None` if a property is missing, or its rules are unknown.
    pub(super) fn of(device: &Value, vendor: &Vendor) -> Option<Self> {
        let number = |key: &str| device.get(key).and_then(Value::as_i64).filter(|number| *number > 0);
        Some(Self {
            warp_size: number("warpSize")?,
            max_threads: number("maxThreadsPerMultiprocessor")?,
            registers: number("regsPerMultiprocessor")?,
            shared_memory: number("sharedMemPerMultiprocessor")?,
            rules: (vendor.residency)(device.get("computeMajor")?.as_i64()?, device.get("computeMinor")?.as_i64()?)?,
        })
    }

    fn max_warps(&self) -> i64 {
        self.max_threads / self.warp_size
    }

    fn warps(&self, threads: i64) -> i64 {
        units(threads, self.warp_size)
    }

    /// Threads of so many blocks over those that fit, in percent; a part of a warp counts as one.
    pub(super) fn occupancy(&self, blocks: ResidentBlocks, threads: i64) -> Option<f64> {
        let warps = self.warps(threads).saturating_mul(blocks.number) as f64;
        Some(100.0 * warps / self.max_warps() as f64).filter(|percent| percent.is_finite() && *percent <= 100.0)
    }
}

/// Resources that a block needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockNeeds {
    /// Threads of the block.
    pub(super) threads: i64,
    /// Registers of each thread.
    pub(super) registers: i64,
    /// Bytes of shared memory, static and dynamic.
    pub(super) shared_memory: i64,
}

/// How many blocks of a kernel a multiprocessor holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResidentBlocks {
    /// Their number; at least 1.
    pub(super) number: i64,
    /// Bits of what allows no more, in the order of [`LIMITS`].
    limits: u8,
}

impl ResidentBlocks {
    /// The blocks that the resources allow.
    pub(super) fn computed(device: &MultiprocessorLimits, block: BlockNeeds) -> Option<Self> {
        let (rules, warps) = (device.rules, device.warps(block.threads));
        if warps <= 0 || block.registers <= 0 || block.shared_memory < 0 {
            return None;
        }
        let registers = round_up(block.registers.saturating_mul(device.warp_size), rules.register_unit);
        let warps_by_registers = device.registers / rules.num_partitions / registers * rules.num_partitions;
        let used = block.shared_memory.saturating_add(rules.reserved_shared_memory);
        let bytes = round_up(used, rules.shared_memory_unit);
        let by_memory = (bytes > 0).then(|| device.shared_memory / bytes);
        let (by_threads, by_registers) = (device.max_warps() / warps, warps_by_registers / warps);
        Self::of([Some(by_threads), Some(by_registers), by_memory, Some(rules.max_blocks), None])
    }

    /// The blocks that a file records, as the JSON of an object with a number per limit.
    pub(super) fn recorded(json: &str) -> Option<Self> {
        let facts: Value = serde_json::from_str(json).ok()?;
        let number = |key: &str| facts.get(key).and_then(Value::as_i64);
        let active = number("activeBlocksPerMultiprocessor").filter(|number| *number > 0)?;
        Some(Self { number: active, ..Self::of(RECORDED.map(number))? })
    }

    fn of(limits: [Option<i64>; LIMITS.len()]) -> Option<Self> {
        let number = limits.into_iter().flatten().min().filter(|number| *number > 0)?;
        let bits = (0..).zip(limits).filter(|(_, limit)| *limit == Some(number)).map(|(bit, _)| 1_u8 << bit);
        Some(Self { number, limits: bits.sum() })
    }

    /// Names of the limits, separated by commas; `blocks_per_sm` tells how many blocks there are.
    pub(super) fn write_limits(self, blocks_per_sm: Option<f64>, out: &mut String) {
        if blocks_per_sm.is_some_and(|blocks| blocks < self.number as f64) {
            return out.push_str(GRID);
        }
        let named = LIMITS.iter().enumerate().filter(|(bit, _)| self.limits & (1 << bit) != 0);
        for (at, (_, name)) in named.enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            out.push_str(name);
        }
    }
}

fn units(number: i64, unit: i64) -> i64 {
    number.saturating_add(unit - 1) / unit
}

fn round_up(number: i64, unit: i64) -> i64 {
    units(number, unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::of_device;

    const H100: &str = r#"{"computeMajor": 9, "computeMinor": 0, "maxThreadsPerMultiprocessor": 2048,
        "warpSize": 32, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472}"#;

    fn held(threads: i64, registers: i64, shared_memory: i64, per_sm: f64) -> Option<(i64, String)> {
        let device = serde_json::from_str(H100).unwrap();
        let device = MultiprocessorLimits::of(&device, of_device("NVIDIA H100").unwrap()).unwrap();
        let blocks = ResidentBlocks::computed(&device, BlockNeeds { threads, registers, shared_memory })?;
        let mut limits = String::new();
        blocks.write_limits(Some(per_sm), &mut limits);
        Some((blocks.number, limits))
    }

    #[test]
    fn each_resource_limits() {
        let found = |number, limits: &str| Some((number, String::from(limits)));
        assert_eq!(held(256, 16, 0, 99.0), found(8, "threads"));
        assert_eq!(held(128, 255, 0, 99.0), found(2, "registers"));
        assert_eq!(held(384, 168, 99_328, 99.0), found(1, "registers"));
        assert_eq!(held(128, 32, 100_000, 99.0), found(2, "shared memory"));
        assert_eq!(held(32, 16, 0, 99.0), found(32, "blocks"));
        assert_eq!(held(128, 32, 0, 99.0), found(16, "threads, registers"));
        assert_eq!(held(128, 32, 0, 0.5), found(16, "grid"));
        assert_eq!(held(128, 0, 0, 99.0), None);
        assert_eq!(held(4096, 32, 0, 99.0), None);
        assert_eq!(held(i64::MAX, i64::MAX, i64::MAX, 99.0), None);
    }

    #[test]
    fn recorded_limits_are_taken() {
        let json = r#"{"activeBlocksPerMultiprocessor": 3, "limitingFactors": "WARPS|REGS", "blockLimitRegs": 3,
            "blockLimitSharedMem": 100, "blockLimitWarps": 3}"#;
        let (blocks, mut limits) = (ResidentBlocks::recorded(json).unwrap(), String::new());
        blocks.write_limits(None, &mut limits);
        assert_eq!((blocks.number, &*limits), (3, "threads, registers"));
        assert_eq!(ResidentBlocks::recorded("38"), None);
    }
}
