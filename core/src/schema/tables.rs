//! Lists all tables with their columns.

use std::sync::Arc;

use super::schema_table::{SchemaTable, TableOwner};
#[cfg(feature = "python-reports")]
use crate::analyze::node_changes;
use crate::analyze::tables::MEMORY_HOLDERS;
use crate::analyze::{
    ANALYSES, AnalysisResult, KERNEL_SOURCES, diff, flame_changes, memory_growth, memory_of_snapshot,
    memory_of_timeline, memory_state,
};
#[cfg(feature = "flight-job")]
use crate::analyze::{FlightJob, flight_events, flight_job_tables};
#[cfg(feature = "gates")]
use crate::analyze::{check, gate};
use crate::link::LinkedTrace;
use crate::memory::{MemorySnapshot, MemoryTimeline};
use crate::replay::{PLAN, measured, operators_measured};
use crate::table::{
    CAPTURED, CHAKRA_TABLES, FLIGHT_TABLES, MEMORY_SNAPSHOT_TABLES, MEMORY_TIMELINE_TABLES, RANK_TABLES, TABLES, Table,
};

/// All tables that users can get, each with its columns.
///
/// Tables of a trace stack for a job: they get the leading columns `rank` and `window`. The same
/// goes for analyses of single traces. The owner `job` has the other tables of a job.
///
/// ```
/// use kinetoscope::schema::schema;
/// let tables = schema();
/// let events = tables.iter().find(|table| table.table == "events").unwrap();
/// assert_eq!((events.columns[0].name, events.columns[0].column_type), ("id", "int64"));
/// ```
pub fn schema() -> Vec<SchemaTable> {
    let trace = TableOwner::recording("trace");
    let mut all = recorded("trace", TABLES);
    all.extend([trace.table(&CAPTURED), trace.table(&KERNEL_SOURCES)]);
    all.extend(analyzed());
    all.extend(recorded("job", RANK_TABLES));
    all.extend(recorded("chakra", CHAKRA_TABLES));
    all.extend(recorded("flight_recorder", FLIGHT_TABLES));
    #[cfg(feature = "flight-job")]
    all.extend(compared_dumps());
    all.extend(recorded("memory_snapshot", MEMORY_SNAPSHOT_TABLES));
    let nothing = MemorySnapshot::default();
    all.extend(answered("memory_snapshot", "memory", &memory_of_snapshot(&nothing)));
    // The end is a moment of every snapshot. The table of holders is also one of `memory`.
    let states = memory_state(&nothing, "end").map(|state| answered("memory_snapshot", "memory_state", &state));
    all.extend(states.into_iter().flatten().filter(|table| table.table != MEMORY_HOLDERS.name));
    all.extend(answered("memory_snapshot", "diff", &memory_growth(&nothing, &nothing)));
    all.extend(recorded("memory_timeline", MEMORY_TIMELINE_TABLES));
    all.extend(answered("memory_timeline", "memory", &memory_of_timeline(&MemoryTimeline::default())));
    let replay = TableOwner::recording("replay");
    all.extend([replay.table(&PLAN), replay.rows(&*measured(Vec::new()))]);
    all.push(replay.rows(&*operators_measured(Vec::new())));
    all
}

/// [`schema`] as a JSON list.
pub fn schema_json() -> String {
    serde_json::to_string(&schema()).unwrap_or_default()
}

fn recorded<S>(of: &'static str, tables: &[&Table<S>]) -> Vec<SchemaTable> {
    tables.iter().map(|table| TableOwner::recording(of).table(table)).collect()
}

/// The tables of each analysis, and those of a comparison. An analysis has the same tables for
/// every trace, so an empty one lists them.
fn analyzed() -> Vec<SchemaTable> {
    let empty = Arc::new(LinkedTrace::default());
    let mut all = Vec::new();
    for analysis in ANALYSES {
        let of = if analysis.kind() == "ranks" { "job" } else { "trace" };
        all.extend(
            analysis.answer(&empty, "{}").map(|result| answered(of, analysis.name, &result)).unwrap_or_default(),
        );
    }
    all.extend(diff(&empty, &empty, "{}").map(|result| answered("trace", "diff", &result)).unwrap_or_default());
    #[cfg(feature = "gates")]
    all.extend(decided(&empty));
    #[cfg(feature = "python-reports")]
    all.push(TableOwner { of: "trace", analysis: Some("diff") }.rows(&*node_changes(&empty, &empty)));
    let flames = flame_changes(&empty, &empty, "{}");
    all.extend(flames.map(|result| answered("trace", "diff_flamegraph", &result)).unwrap_or_default());
    all
}

/// Tables of decisions: of a gate, and of budgets.
#[cfg(feature = "gates")]
fn decided(empty: &Arc<LinkedTrace>) -> Vec<SchemaTable> {
    let run = [vec![(None, Arc::clone(empty))]];
    let gates = gate(&run, &run, "{}", 1).map(|result| answered("trace", "gate", &result));
    let budgets = check(&run[0], r#"{"budget": {"min_iterations": 1}}"#, 1);
    let budgets = budgets.map(|result| answered("trace", "check", &result));
    gates.into_iter().chain(budgets).flatten().collect()
}

/// Tables of dumps of several ranks, and the events of their entries.
#[cfg(feature = "flight-job")]
fn compared_dumps() -> Vec<SchemaTable> {
    let of = "flight_recorder_set";
    let job = Arc::new(FlightJob::new(vec![(0, Arc::default())]));
    let tables = flight_job_tables(&job);
    let mut all: Vec<_> = tables.iter().map(|table| TableOwner::recording(of).rows(&**table)).collect();
    all.extend(answered(of, "events", &flight_events(&job, &[])));
    all
}

fn answered(of: &'static str, analysis: &'static str, result: &AnalysisResult) -> Vec<SchemaTable> {
    let owner = TableOwner { of, analysis: Some(analysis) };
    result.tables.iter().map(|table| owner.rows(&**table)).collect()
}
