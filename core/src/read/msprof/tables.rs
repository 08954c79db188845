//! The tables of a database and the parts that they play.

use std::sync::Arc;

use super::device::{write_collective, write_frequency, write_task};
use super::host::{write_call, write_marker, write_operator, write_step};
use super::known::{CONNECTION, CONNECTIONS, DETAILS_KEY, MsprofKnown};
use crate::read::event_text::EventText;
use crate::read::sqlite::SqlTable;
use crate::read::table_export::{TableStage, WriteRow};
use crate::read::table_row::TableRow;

const OPERATOR: &[&str] = &[
    "startNs",
    "endNs",
    "globalTid",
    "connectionId",
    "name",
    "sequenceNumber",
    "fwdThreadId",
    "inputDtypes",
    "inputShapes",
    "type",
];
const CALL: &[&str] = &["startNs", "endNs", "type", "globalTid", "connectionId", "name"];
const MARKER: &[&str] = &["startNs", "endNs", "eventType", "message", "globalTid"];
const STEP: &[&str] = &["id", "startNs", "endNs"];
const TASK: &[&str] = &[
    "startNs",
    "endNs",
    "deviceId",
    "connectionId",
    "globalTaskId",
    "globalPid",
    "taskType",
    "contextId",
    "streamId",
    "taskId",
    "modelId",
];
const COLLECTIVE: &[&str] = &[
    "opName",
    "startNs",
    "endNs",
    "connectionId",
    "groupName",
    "dataType",
    "algType",
    "count",
    "opType",
    "deviceId",
    "relay",
    "retry",
];
const FREQUENCY: &[&str] = &["deviceId", "timestampNs", "freq"];

/// The tables whose rows become events.
pub(super) fn stages(tables: &[Arc<SqlTable>]) -> Vec<TableStage<MsprofKnown>> {
    let table = |name: &str| tables.iter().find(|table| table.name == name);
    let stage = |name: &str, columns: &[&str], write: WriteRow<MsprofKnown>| {
        Some(TableStage::new(table(name)?, columns, 0, write))
    };
    // Operators have the steps among them.
    let steps = table("PYTORCH_API").is_none().then(|| stage("STEP_TIME", STEP, write_step));
    let found = [
        stage("PYTORCH_API", OPERATOR, write_operator),
        steps.flatten(),
        stage("MSTX_EVENTS", MARKER, write_marker),
        stage("CANN_API", CALL, write_call),
        stage("TASK", TASK, write_task),
        stage("COMMUNICATION_OP", COLLECTIVE, write_collective),
        stage("AICORE_FREQ", FREQUENCY, write_frequency),
        stage(CONNECTIONS, &CONNECTION, check_numbers::<2>),
        stage("COMPUTE_TASK_INFO", &[DETAILS_KEY], check_numbers::<1>),
        stage("COMMUNICATION_TASK_INFO", &[DETAILS_KEY], check_numbers::<1>),
        stage("COMMUNICATION_SCHEDULE_TASK_INFO", &[DETAILS_KEY], check_numbers::<1>),
        stage("MEMCPY_INFO", &[DETAILS_KEY], check_numbers::<1>),
    ];
    found.into_iter().flatten().collect()
}

/// Counts a row of another table that nothing can refer to.
fn check_numbers<const N: usize>(row: &TableRow<'_>, _: usize, _: &mut MsprofKnown, _: &mut EventText) {
    let numbers = row.numbers::<N>();
    row.expect(numbers.iter().all(Option::is_some));
}
