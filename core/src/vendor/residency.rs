//! Rules by which multiprocessors hold blocks of threads.

/// How a multiprocessor of one generation gives its resources to blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResidencyRules {
    /// Blocks that it holds at most.
    pub max_blocks: i64,
    /// Registers of a warp are a multiple of this number.
    pub register_unit: i64,
    /// Partitions, each with an equal part of the registers. A warp has those of one partition.
    pub num_partitions: i64,
    /// Bytes of shared memory of a block are a multiple of this number.
    pub shared_memory_unit: i64,
    /// Bytes of shared memory that the system takes for each block.
    pub reserved_shared_memory: i64,
}
