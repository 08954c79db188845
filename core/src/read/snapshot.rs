//! x
/// Magic.
pub const MAGIC: &[u8] = b"kscope\0";
