//! Reads tables of all recordings.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{FlightJob, flight_job_tables, memory_of_snapshot, memory_of_timeline};
use kinetoscope::read::Recording;
use kinetoscope::table::{
    CHAKRA_TABLES, FLIGHT_TABLES, MEMORY_SNAPSHOT_TABLES, MEMORY_TIMELINE_TABLES, TABLES, TableRows, chakra_metadata,
    json_lines,
};
use kinetoscope::view::chart;
use kinetoscope::write::chakra::write_chakra;
use serde_json::Value;

/// The most rows that are read of a table: more of them are alike.
const ROWS: usize = 100;

/// Reads the tables of a trace.
pub fn exercise_all(linked: &Arc<LinkedTrace>) {
    TABLES.iter().for_each(|table| exercise(&*table.of(linked)));
}

/// Reads the first rows of a table, writes them as lines of JSON, and draws them.
pub fn exercise(table: &dyn TableRows) {
    let rows = table.num_rows().min(ROWS);
    let columns: Vec<_> = (0..table.num_columns()).collect();
    let mut lines = String::new();
    json_lines(table, &columns, 0..rows, "", &mut lines);
    assert_eq!(lines.lines().count(), rows);
    for line in lines.lines() {
        assert!(line.len() > 10_000 || serde_json::from_str::<Value>(line).is_ok(), "a line of {}", table.name());
    }
    chart(table, None, None);
}

/// Reads the tables of a recording other than a trace, and writes a graph again.
pub fn exercise_recording(recording: Recording) {
    match recording {
        Recording::Trace(_) => {}
        Recording::Chakra(chakra) => {
            expect_json(&chakra_metadata(&chakra));
            let mut written = Vec::new();
            write_chakra(&chakra, &mut written).expect("a vector takes all");
            let chakra = Arc::new(chakra);
            CHAKRA_TABLES.iter().for_each(|table| exercise(&*table.of(&chakra)));
        }
        Recording::MemorySnapshot(snapshot) => {
            expect_json(&snapshot.metadata);
            let snapshot = Arc::new(*snapshot);
            MEMORY_SNAPSHOT_TABLES.iter().for_each(|table| exercise(&*table.of(&snapshot)));
            memory_of_snapshot(&snapshot).tables.iter().for_each(|table| exercise(&**table));
        }
        Recording::FlightRecorder(recorder) => {
            expect_json(&recorder.metadata);
            let recorder = Arc::new(*recorder);
            FLIGHT_TABLES.iter().for_each(|table| exercise(&*table.of(&recorder)));
            let job = Arc::new(FlightJob::new((0..3).map(|rank| (rank, Arc::clone(&recorder))).collect()));
            expect_json(&job.metadata_json());
            flight_job_tables(&job).iter().for_each(|table| exercise(&**table));
        }
        Recording::MemoryTimeline(timeline) => {
            let timeline = Arc::new(timeline);
            MEMORY_TIMELINE_TABLES.iter().for_each(|table| exercise(&*table.of(&timeline)));
            memory_of_timeline(&timeline).tables.iter().for_each(|table| exercise(&**table));
        }
    }
}

fn expect_json(metadata: &str) {
    assert!(serde_json::from_str::<Value>(metadata).is_ok(), "metadata: {metadata}");
}
