//! Tests the documentation of tables and columns: complete, used, plain, and true to the data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kinetoscope::analyze::{
    ANALYSES, AnalysisResult, RankedTrace, analysis, check, diff, diff_jobs, flame_changes, gate,
};
use kinetoscope::link::LinkedTrace;
use kinetoscope::schema::{ColumnDoc, SchemaTable, column_docs, column_unit, schema, schema_json};
use kinetoscope::table::{ColumnType, TABLES, TableRows};
use kinetoscope::{Input, Limits, read};

use crate::files;

/// Longest doc, in characters.
const MAX_DOC: usize = 160;

/// Longest sentence, in words.
const MAX_WORDS: usize = 25;

/// Units that columns of numbers may have.
const UNITS: [&str; 18] = [
    "%",
    "FLOP",
    "FLOP/byte",
    "GB/s",
    "tokens/s",
    "TFLOP/s",
    "address",
    "as recorded",
    "bytes",
    "count",
    "elements",
    "fraction",
    "id",
    "in the unit",
    "ns",
    "number",
    "of the weight",
    "ratio",
];

fn place(table: &SchemaTable, column: &str) -> String {
    format!("{}.{}.{column}", table.scope(), table.table)
}

#[test]
fn each_column_has_exactly_one_entry() {
    let mut found = Vec::new();
    for table in schema() {
        for column in &table.columns {
            let num = ColumnDoc::all_of(&table, column.name).len();
            if num != 1 {
                found.push(format!("{}: expected one entry, found {num}", place(&table, column.name)));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn each_entry_is_used_by_all_tables_that_it_names() {
    let all = schema();
    let is_used = |entry: &ColumnDoc, name: &'static str| {
        let alone = ColumnDoc { tables: name, ..*entry };
        let is_of = |table: &&SchemaTable| entry.is_general() || alone.names(table);
        let has = |table: &SchemaTable| table.columns.iter().any(|column| column.name == entry.column);
        all.iter().filter(is_of).any(|table| has(table) && ColumnDoc::all_of(table, entry.column).contains(entry))
    };
    let unused: Vec<_> = column_docs()
        .flat_map(|entry| entry.tables.split(',').map(move |name| (entry, name)))
        .filter(|(entry, name)| !is_used(entry, name))
        .map(|(entry, name)| format!("{} of {name}", entry.column))
        .collect();
    assert!(unused.is_empty(), "no table has {}", unused.join(", "));
}

#[test]
fn entries_are_sorted_and_whole() {
    let entries: Vec<_> = column_docs().collect();
    let keys: Vec<_> = entries.iter().map(|entry| (entry.column, entry.tables)).collect();
    assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", keys.windows(2).find(|pair| pair[0] >= pair[1]));
    let text = std::fs::read_to_string(files::path("core/src/schema/columns.tsv")).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), entries.len(), "a line lacks cells");
    let others: Vec<_> = lines.iter().filter(|line| line.split('\t').count() != 5 || line.contains("  ")).collect();
    assert!(others.is_empty(), "expected five cells, found {others:?}");
}

#[test]
fn entries_are_plain() {
    let found: Vec<_> =
        column_docs().flat_map(|entry| faults(entry).map(move |fault| format!("{}: {fault}", entry.column))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn bad_entries_are_found() {
    let faults = |source, doc| faults(ColumnDoc { column: "a", tables: "*", unit: None, source, doc }).count();
    assert_eq!(faults("`dur` × 1000", "Duration of the event"), 0);
    let long: &'static str = format!("Time {}", "x".repeat(MAX_DOC)).leak();
    let sentence: &'static str = format!("One{}", " word".repeat(MAX_WORDS)).leak();
    for doc in ["What the event costs", "How long it takes", "Duration.", "duration", "Time `dur", long, sentence] {
        assert_eq!(faults("computed", doc), 1, "{doc}");
    }
    for source in ["", "Computed", "computed."] {
        assert_eq!(faults(source, "Duration of the event"), 1, "{source}");
    }
}

/// Reasons why the texts of an entry are not plain.
fn faults(entry: ColumnDoc) -> impl Iterator<Item = String> {
    let doc = entry.doc;
    let first = doc.split(' ').next().unwrap_or_default();
    let is_headless = ["What", "Who", "Whose", "How", "Where", "When", "Which"].contains(&first);
    let begins = doc.starts_with(|letter: char| letter.is_uppercase() || letter.is_ascii_digit() || letter == '`');
    let longest = doc.split(['.', ';']).map(|sentence| sentence.split_whitespace().count()).max().unwrap_or(0);
    let source_begins = entry.source.starts_with(|letter: char| letter.is_lowercase() || letter == '`')
        || entry.source.starts_with("Execution Trace: ");
    let checks = [
        (is_headless, "expected a verb or a noun, found a headless word"),
        (!begins, "expected a doc that begins with a capital or with code"),
        (doc.ends_with(['.', ' ']), "expected no full stop at the end"),
        (doc.chars().count() > MAX_DOC, "the doc is too long"),
        (longest > MAX_WORDS, "a sentence is too long"),
        (doc.matches('`').count() % 2 == 1, "expected pairs of backquotes"),
        (!source_begins || entry.source.ends_with('.'), "expected a field, or `computed`"),
    ];
    checks.into_iter().filter(|(is_fault, _)| *is_fault).map(move |(_, fault)| format!("{fault}: {doc}"))
}

#[test]
fn columns_of_numbers_have_a_known_unit() {
    let mut found = Vec::new();
    for table in schema() {
        for column in &table.columns {
            let is_number = ["int64", "uint64", "float64"].contains(&column.column_type);
            let is_known = column.unit.is_some_and(|unit| UNITS.contains(&unit));
            if is_number != column.unit.is_some() || is_number && !is_known {
                found.push(format!("{}: found {:?}", place(&table, column.name), column.unit));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn names_tell_units() {
    let cases = [
        ("start_ns", Some("ns")),
        ("bytes", Some("bytes")),
        ("in_bytes", Some("bytes")),
        ("gbps", Some("GB/s")),
        ("peak_tflops", Some("TFLOP/s")),
        ("flops", Some("FLOP")),
        ("share", Some("fraction")),
        ("share_of_peak", Some("fraction")),
        ("num_elems", Some("elements")),
        ("num_blocks", Some("count")),
        ("after_count", Some("count")),
        ("event_id", Some("id")),
        ("id", Some("id")),
        ("grid", None),
        ("answer", None),
    ];
    for (name, unit) in cases {
        assert_eq!(column_unit(name), unit, "{name}");
    }
}

#[test]
fn an_entry_states_a_unit_only_if_the_name_does_not() {
    let repeated: Vec<_> =
        column_docs().filter(|entry| entry.unit.is_some() && entry.unit == column_unit(entry.column)).collect();
    assert!(repeated.is_empty(), "{repeated:?}");
}

#[test]
fn units_agree_with_those_that_tables_state() {
    let trace: Arc<LinkedTrace> = Arc::default();
    let all = schema();
    for table in
        TABLES.iter().map(|table| table.of(&trace)).chain(answers(&trace).flat_map(|(_, answer)| answer.tables))
    {
        for at in 0..table.num_columns() {
            let Some(unit) = table.column_unit(at) else { continue };
            let name = table.column_name(at);
            let documented = all.iter().filter(|known| known.table == table.name());
            let units = documented.flat_map(|known| known.columns.iter().filter(|column| column.name == name));
            assert!(units.clone().count() > 0, "{name}");
            units.for_each(|column| assert_eq!(column.unit, Some(unit), "{}.{name}", table.name()));
        }
    }
}

/// The answer of each analysis with each choice of its options.
fn answers(trace: &Arc<LinkedTrace>) -> impl Iterator<Item = (&'static str, AnalysisResult)> + '_ {
    let requests = [
        ("operators", r#"{"by": "shape"}"#),
        ("operators", r#"{"by": "stack"}"#),
        ("breakdown", r#"{"per": "selection"}"#),
        ("breakdown", r#"{"per": "work"}"#),
        ("critical_path", r#"{"like": "hta"}"#),
        ("critical_path", r#"{"what_if": "aten", "factor": 0.5}"#),
        ("roofline", r#"{"on": "host", "device": "H100 SXM"}"#),
    ];
    let all = ANALYSES.iter().map(|analysis| (analysis.name, "{}")).chain(requests);
    all.map(|(name, request)| (name, analysis(name).unwrap().answer(trace, request).unwrap()))
}

/// Name, type of each column, in order.
type TableShape = (&'static str, Vec<(&'static str, &'static str)>);

fn shape(table: &dyn TableRows, skipped: usize) -> TableShape {
    let name_of = |column_type| match column_type {
        ColumnType::Int => "int64",
        ColumnType::UInt => "uint64",
        ColumnType::Float => "float64",
        ColumnType::Bool => "bool",
        ColumnType::Text => "string",
        ColumnType::Json => "json",
    };
    let columns = skipped..table.num_columns();
    (table.name(), columns.map(|at| (table.column_name(at), name_of(table.column_type(at)))).collect())
}

fn documented(analysis: &str) -> Vec<TableShape> {
    let shape = |table: &SchemaTable| {
        (table.table, table.columns.iter().map(|column| (column.name, column.column_type)).collect())
    };
    let is_own = |table: &&SchemaTable| table.analysis == Some(analysis) && ["trace", "job"].contains(&table.of);
    schema().iter().filter(is_own).map(shape).collect()
}

fn shapes(answer: &AnalysisResult, skipped: usize) -> Vec<TableShape> {
    answer.tables.iter().map(|table| shape(&**table, skipped)).collect()
}

#[test]
fn analyses_have_the_documented_tables_on_each_trace() {
    for folder in ["synthetic_cuda", "nccl_cuda", "minimal_cpu"] {
        let trace = Arc::new(files::pair(folder));
        for (name, answer) in answers(&trace) {
            assert_eq!(shapes(&answer, 0), documented(name), "{name} of {folder}");
        }
        let changes = diff(&trace, &trace, "{}").unwrap();
        assert_eq!(shapes(&changes, 0), documented("diff"), "{folder}");
        let flames = flame_changes(&trace, &trace, "{}").unwrap();
        assert_eq!(shapes(&flames, 0), documented("diff_flamegraph"), "{folder}");
        let run = [vec![(None, Arc::clone(&trace))]];
        assert_eq!(shapes(&gate(&run, &run, "{}", 1).unwrap(), 0), documented("gate"), "{folder}");
        let budgets = check(&run[0], r#"{"budget": {"step": "1 s"}}"#, 1).unwrap();
        assert_eq!(shapes(&budgets, 0), documented("check"), "{folder}");
    }
}

#[test]
fn analyses_of_a_job_have_the_documented_tables_after_rank_and_window() {
    let trace = |rank: i64| {
        let kineto = files::bytes(&format!("mlp_gloo/kineto_trace_{rank}.json.gz"));
        (Some(rank), Arc::new(LinkedTrace::new(read([Input::new(&kineto)], Limits::default()).unwrap())))
    };
    let job: Vec<RankedTrace> = vec![trace(0), trace(1)];
    for analysis in ANALYSES {
        let answer = analysis.answer_of_job(&job, "{}", 1).unwrap();
        let skipped = if analysis.kind() == "one" { 2 } else { 0 };
        assert_eq!(shapes(&answer, skipped), documented(analysis.name), "{}", analysis.name);
        let own = answer.tables.iter().filter(|_| skipped == 2);
        own.for_each(|table| assert_eq!([table.column_name(0), table.column_name(1)], ["rank", "window"]));
    }
    let mut changes = documented("diff");
    // Nodes are those of two single traces.
    changes.retain(|(name, _)| *name != "diff_nodes");
    assert_eq!(shapes(&diff_jobs(&job, &job, "{}", 1).unwrap(), 2), changes);
}

/// Tables in the source that no user gets as a table.
const SCREEN_TABLES: [&str; 2] = ["hits", "hits_by_name"];

#[test]
fn each_table_in_the_source_is_documented() {
    let known: BTreeSet<_> = schema().iter().map(|table| table.table).collect();
    let mut found = BTreeSet::new();
    let mut folders = vec![files::path("core/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let source = std::fs::read_to_string(&entry).unwrap();
                let shipped = source.split("#[cfg(test)]").next().unwrap_or_default();
                found.extend(table_names(shipped).map(str::to_owned));
            }
        }
    }
    let found: BTreeSet<_> = found.iter().map(String::as_str).filter(|name| !SCREEN_TABLES.contains(name)).collect();
    assert_eq!(found, known);
}

/// Names in `Table { name: "…"` of a source.
fn table_names(source: &str) -> impl Iterator<Item = &str> {
    source.split("Table {").skip(1).filter_map(|rest| {
        let name = rest.trim_start().strip_prefix("name: \"")?;
        name.split('"').next()
    })
}

#[test]
fn tables_are_distinct_by_scope_and_documented() {
    let mut places: BTreeMap<_, usize> = BTreeMap::new();
    for table in schema() {
        assert!(!table.doc.is_empty() && !table.columns.is_empty(), "{}", table.table);
        *places.entry((table.scope(), table.table)).or_default() += 1;
    }
    assert!(places.values().all(|num| *num == 1), "{places:?}");
    let analyses: BTreeSet<_> = schema().iter().filter_map(|table| table.analysis).collect();
    assert!(ANALYSES.iter().all(|analysis| analyses.contains(analysis.name)));
}

#[test]
fn the_schema_is_a_list_in_json() {
    let list: Vec<serde_json::Value> = serde_json::from_str(&schema_json()).unwrap();
    assert_eq!(list.len(), schema().len());
    let events = &list[0];
    assert_eq!((&events["table"], &events["analysis"], &events["of"]), (&"events".into(), &().into(), &"trace".into()));
    let start = events["columns"].as_array().unwrap().iter().find(|column| column["name"] == "start_ns").unwrap();
    assert_eq!((&start["type"], &start["unit"]), (&"int64".into(), &"ns".into()));
    assert_eq!(start["doc"], "Start of the event");
}
