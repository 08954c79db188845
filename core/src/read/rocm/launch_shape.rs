//! Turns the sides of a grid from work-items into blocks.

/// How many blocks a grid has on each side. The last block of a side may be a part of one.
pub(super) fn blocks_of(items: [Option<i64>; 3], block: [Option<i64>; 3]) -> [Option<i64>; 3] {
    std::array::from_fn(|side| {
        let items = items[side].filter(|items| *items >= 0)?;
        let block = block[side].filter(|block| *block > 0)?;
        Some(items / block + i64::from(items % block > 0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_block_is_a_block() {
        let sides = blocks_of([Some(1000), Some(512), Some(i64::MAX)], [Some(256), Some(256), Some(1)]);
        assert_eq!(sides, [Some(4), Some(2), Some(i64::MAX)]);
    }

    #[test]
    fn a_side_that_cannot_be_is_unknown() {
        assert_eq!(blocks_of([Some(-1), Some(1), None], [Some(1), Some(0), Some(1)]), [None; 3]);
    }
}
