//! x
/// x
pub fn write_snapshot() {}
