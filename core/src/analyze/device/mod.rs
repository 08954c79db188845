//! Peaks of devices, for the roofline.

mod peaks;
mod precision;
pub(super) mod row;

pub(super) use peaks::Peaks;
pub(super) use precision::Precision;
pub(super) use row::{DevicePeaksRow, TABLE as DEVICE};
