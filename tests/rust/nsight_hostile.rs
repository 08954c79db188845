//! Tests cut, damaged and hostile exports.

use std::io;

use kinetoscope::read::read_database;
use kinetoscope::{ErrorKind, Input, Limits, WarningKind, read};

use crate::files;
use crate::hostile::exercise;
use crate::nsight::{database, export, opened};

const FILE: &str = "synthetic_nsight/nsys_0.sqlite";

const KERNELS: &str = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'kernel');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
        correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER);";

#[test]
fn a_database_cut_anywhere_is_refused_with_a_word() {
    let bytes = files::bytes(FILE);
    // Missing bytes of the last page count as zeros.
    let last_page = bytes.len() - 1024;
    for end in (16..=last_page).step_by(97) {
        let error = exercise(&bytes[..end]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed { .. }), "{end}: {error}");
        assert!(error.to_string().contains("a complete SQLite database"), "{error}");
    }
    for end in (last_page + 1..bytes.len()).step_by(13) {
        let _ = exercise(&bytes[..end]);
    }
}

#[test]
fn a_damaged_database_does_not_panic() {
    let bytes = files::bytes(FILE);
    let (mut num_read, mut num_counted) = (0, 0);
    for at in (0..bytes.len()).step_by(149) {
        for value in [0, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let _ = exercise(&damaged);
            if let Ok(trace) = read([Input::new(&damaged)], Limits::default()) {
                num_read += 1;
                num_counted += trace.warnings.count(WarningKind::DamagedTable);
            }
        }
    }
    assert!(num_read > 100 && num_counted > 0, "{num_read}, {num_counted}");
}

#[test]
fn whole_pages_of_noise_do_not_panic() {
    let bytes = files::bytes(FILE);
    for page in 1..bytes.len() / 1024 {
        let mut damaged = bytes.clone();
        let noise = (0..1024_usize).map(|at| ((at * 31 + page * 17) ^ (at >> 3)) as u8);
        damaged.splice(page * 1024..(page + 1) * 1024, noise);
        let _ = exercise(&damaged);
        damaged[page * 1024..(page + 1) * 1024].fill(0);
        let _ = exercise(&damaged);
    }
}

#[test]
fn values_of_other_types_are_absent_and_counted() {
    let trace = export(&format!(
        "{KERNELS} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (1000, 2000, 0, 7, 1, 16777216, 1, 1, 2, 3),
        ('soon', x'00', 1.5, 'seven', x'01', 'p', x'02', 'x', 2, 3),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (9223372036854775807, -9223372036854775808, -1, -1, -1, -1, -1, -1, -1, -1);"
    ));
    assert_eq!(trace.events.len(), 4);
    assert_eq!(trace.event_name(0), "kernel");
    let warning = trace.warnings.iter().find(|warning| warning.kind == WarningKind::InvalidValue).unwrap();
    assert!(warning.count >= 6, "{}", warning.count);
    assert_eq!(warning.first.to_string(), "x.sqlite: CUPTI_ACTIVITY_KIND_KERNEL: demangledName, event 1");
    exercise(&database(KERNELS)).unwrap();
}

#[test]
fn a_view_in_the_place_of_a_table_is_not_run() {
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS start, x AS end FROM n";
    let bytes = database(&format!(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS {endless};
        CREATE VIEW META_DATA_EXPORT AS {endless};"
    ));
    assert_eq!(exercise(&bytes).unwrap(), 0);
    let table = "CUPTI_ACTIVITY_KIND_KERNEL";
    let bytes = database(&format!(
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema
        VALUES ('table', '{table}', '{table}', 0, 'CREATE VIRTUAL TABLE {table} USING anything(start, end)');"
    ));
    let error = exercise(&bytes).unwrap_err();
    assert!(error.to_string().contains("without tables"), "{error}");
}

#[test]
fn a_generated_column_is_not_computed() {
    let trace = export(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER,
            demangledName TEXT AS (printf('%.*c', 60000000, 'x')));
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end) VALUES (1, 2);",
    );
    assert_eq!((trace.events.len(), trace.event_name(0)), (1, ""));
}

#[test]
fn texts_without_end_are_absent_and_counted() {
    let trace = export(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, printf('%.*c', 2000000, 'x'));
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, jsonText TEXT);
        INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, printf('%.*c', 2000000, 'x'), NULL, printf('%.*c', 2000000, 'x')),
            (3, 4, 59, NULL, 1, 'short'), (5, 6, 59, 'name', NULL, NULL);",
    );
    let names: Vec<_> = (0..3).map(|row| trace.event_name(row)).collect();
    assert_eq!(names, ["", "1", "name"]);
    assert_eq!(trace.warnings.count(WarningKind::InvalidValue), 3);
}

#[test]
fn names_of_columns_are_not_sql() {
    let trace = export(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, \"a\"\"; DROP TABLE x\" INTEGER, \"\" TEXT);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 3, 'x');",
    );
    assert_eq!(trace.events.len(), 1);
    assert_eq!(trace.warnings.iter().len(), 0);
}

#[test]
fn a_database_in_utf16_says_what_to_do() {
    let bytes = database("PRAGMA encoding = 'UTF-16'; CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);");
    let error = read([Input::new(&bytes)], Limits::default()).unwrap_err();
    assert!(error.to_string().contains("PRAGMA encoding = 'UTF-8'"), "{error}");
}

#[test]
fn a_page_that_is_its_own_child_ends_the_table() {
    // Enough rows for a page of pages: its last child becomes itself.
    let many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5000)
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end) SELECT x, x + 1 FROM n;";
    let mut bytes = database(&format!("{KERNELS} {many}"));
    let page_bytes = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let root = (1..bytes.len() / page_bytes).find(|page| bytes[page * page_bytes] == 5).unwrap();
    let child = (root as u32 + 1).to_be_bytes();
    bytes[root * page_bytes + 8..root * page_bytes + 12].copy_from_slice(&child);
    let trace = read([Input::new(&bytes)], Limits::default()).unwrap();
    assert!((1000..5000).contains(&trace.events.len()), "{}", trace.events.len());
    assert_eq!(trace.warnings.count(WarningKind::DamagedTable), 1);
}

#[test]
fn rows_without_numbers_or_with_wild_ones_end() {
    let trace = export(&format!(
        "{KERNELS} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (_rowid_, start, end) VALUES
            (-9223372036854775808, 1, 2), (0, 3, 4), (9223372036854775807, 5, 6);
        CREATE TABLE PROCESSES (globalPid INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID;
        CREATE TABLE NVTX_EVENTS (_rowid_ INTEGER, start INTEGER, end INTEGER, eventType INTEGER);
        INSERT INTO NVTX_EVENTS VALUES (1, 1, 2, 59), (1, 1, 2, 59);"
    ));
    assert_eq!(trace.events.len(), 3 + 2);
    assert_eq!(trace.warnings.count(WarningKind::DamagedTable), 1, "PROCESSES");
}

#[test]
fn a_database_of_something_else_says_what_is_in_it() {
    let bytes = database("CREATE TABLE notes (id);");
    let error = read([Input::new(&bytes).named("trace.db")], Limits::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }));
    assert_eq!(
        error.to_string(),
        "expected an export of Nsight Systems, or a database of ROCm or msprof, \
         found an SQLite database with the tables notes (trace.db)"
    );
    let error = exercise(&database("CREATE TABLE a (x); DROP TABLE a;")).unwrap_err();
    assert!(error.to_string().contains("without tables"), "{error}");
}

#[test]
fn limits_hold() {
    let bytes = files::bytes(FILE);
    let error = read([Input::new(&bytes)], Limits { max_bytes: 10_000, ..Limits::default() }).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }));
    let error = read_database(opened(), None, Limits { max_bytes: 10_000, ..Limits::default() }, None).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }));
}

#[test]
fn whoever_watches_may_end_the_reading() {
    let mut num_calls = 0;
    let watch = Box::new(|_| {
        num_calls += 1;
        if num_calls > 3 { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    });
    let error = read_database(opened(), None, Limits::default(), Some(watch)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unreadable { .. }));
    assert_eq!(num_calls, 4);
    let mut num_bytes = 0;
    let watch = Box::new(|num_new| {
        num_bytes += num_new;
        Ok(())
    });
    read_database(opened(), None, Limits::default(), Some(watch)).unwrap();
    assert_eq!(num_bytes, files::bytes(FILE).len() as u64);
}
