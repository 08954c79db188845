//! Converts kernels.

use super::device;
use super::export_state::ExportState;
use super::row::{SqlRow, SqlValue};
use super::row_kind::RowKind;
use crate::read::event_text::write_shape;

pub(super) const KERNEL: RowKind = RowKind {
    table: "CUPTI_ACTIVITY_KIND_KERNEL",
    takes: &[
        "start",
        "end",
        "deviceId",
        "streamId",
        "globalPid",
        "demangledName",
        "gridX",
        "gridY",
        "gridZ",
        "blockX",
        "blockY",
        "blockZ",
        "staticSharedMemory",
        "dynamicSharedMemory",
        "clusterX",
        "clusterY",
        "clusterZ",
    ],
    has_rest: true,
    write: kernel,
};

fn kernel(row: &SqlRow<'_>, state: &mut ExportState) {
    let [_, _, _, _, _, name, grid_x, grid_y, grid_z, block_x, block_y, block_z, fixed, dynamic] = row.taken();
    let [.., cluster_x, cluster_y, cluster_z] = row.taken::<17>();
    let name = name.name(&mut state.known.names);
    device::event(row, state, ("kernel", &name), |args| {
        write_shape(args, "grid", [grid_x, grid_y, grid_z].map(SqlValue::integer));
        write_shape(args, "block", [block_x, block_y, block_z].map(SqlValue::integer));
        // A kernel that was launched without clusters has zeros.
        let cluster = [cluster_x, cluster_y, cluster_z].map(SqlValue::integer);
        write_shape(args, "cluster", cluster.map(|side| side.filter(|blocks| *blocks > 0)));
        let (fixed, dynamic) = (fixed.integer(), dynamic.integer());
        if fixed.is_some() || dynamic.is_some() {
            args.integer("shared memory", fixed.unwrap_or(0).saturating_add(dynamic.unwrap_or(0)));
        }
        if let Some(dynamic) = dynamic {
            args.integer("dynamic shared memory", dynamic);
        }
    });
}
