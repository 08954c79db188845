//! Tests that elements read by their shape equal scanned ones.

use std::collections::BTreeMap;

use kinetoscope::table::{ColumnValues, table};
use kinetoscope::{LinkedTrace, Trace};
use proptest::prelude::*;

use crate::files;

/// Text of a value, alike and not quite alike.
fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(texts)
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..100_i64).prop_map(|number| number.to_string()),
        (0..100_i64, 0..100_i64).prop_map(|(whole, rest)| format!("{whole}.{rest:02}")),
        (0..100_i64, 0..1000_i64).prop_map(|(whole, rest)| format!("{whole}.{rest:03}")),
        one_of(&["-1", "-0", "1e2", "\"7\"", "\"7.5\"", "18446744073709551615", "NaN", "07", "1.", "null"])
            .prop_map(String::from),
    ]
}

/// One element as some file might write it.
fn element() -> impl Strategy<Value = String> {
    let name =
        one_of(&[r#""a""#, r#""b""#, r#""""#, r#""a\"b""#, r#""a\\""#, "null", "5", r#"{"a": "b"}"#, "\"\u{e9}\""]);
    let phase = one_of(&["X", "X", "X", "X", "i", "s", "f", "t"]);
    let category = one_of(&[r#""kernel""#, r#""cpu_op""#, r#""ac2g""#, "null"]);
    let place = one_of(&[r#""pid": 0, "tid": 7"#, r#""pid": 0, "tid": "7""#, r#""tid": 1, "pid": 1"#]);
    let args = one_of(&[
        r#"{"correlation": #, "stream": 7}"#,
        r#"{"correlation": #, "stream": 7, "Input Dims": [[2, 3], []]}"#,
        r#"{"correlation": #, "stream": 7, "Input Dims": [[2, 4], []]}"#,
        r#"{"correlation":#}"#,
        r#"{"correlation": #, "correlation": #}"#,
        r#"{"correlation": "x", "stream": #, "bytes": [#]}"#,
        r#"{"correlation": #, }"#,
        "{}",
        "[#]",
    ]);
    let tail = one_of(&["", r#", "bp": "e""#, r#", "name": "b""#, r#", "dur": 3"#, ",", "\n "]);
    (name, phase, category, place, args, tail, prop::array::uniform5(number()), 0..3_u8).prop_map(
        |(name, phase, category, place, args, tail, [dur, id, first, second, time], order)| {
            let args = args.replacen('#', &first, 1).replace('#', &second);
            // Without a time that is a number, an event is placed where the others start.
            let is_time = time.trim_matches('"').parse::<f64>().is_ok_and(|micros| micros < 1e9);
            let time = if is_time { time } else { String::from("3.5") };
            let own = format!(r#""ts": {time}, "dur": {dur}, "id": {id}"#);
            let head = format!(r#""ph": "{phase}", "cat": {category}"#);
            match order {
                0 => format!(r#"{{{head}, "name": {name}, {place}, {own}, "args": {args}{tail}}}"#),
                1 => format!(r#"{{"args": {args}, {own}, "name": {name}, {place}, {head}{tail}}}"#),
                _ => format!("{{\n  {head}, {place},\n  \"name\": {name}, {own},\n  \"args\": {args}{tail}}}"),
            }
        },
    )
}

/// Rows of all tables of elements, without their ids.
fn rows(trace: Trace) -> Vec<String> {
    let linked = LinkedTrace::new(trace);
    let about = |name: &str| {
        let table = table(name).unwrap();
        let wanted = ["name", "category", "process", "thread", "start_ns", "dur_ns", "time_ns", "args", "phase"];
        let wanted = [&wanted[..], &["flow_id", "flow_id_text", "correlation_id"]].concat();
        let columns: Vec<_> = table.columns.iter().filter(|column| wanted.contains(&column.name)).collect();
        let rows = (0..(table.num_rows)(&linked)).map(|row| {
            let cells: Vec<ColumnValues> = columns.iter().map(|column| column.values(&linked, row..row + 1)).collect();
            format!("{name} {cells:?}")
        });
        rows.collect::<Vec<_>>()
    };
    ["events", "instants", "flows"].into_iter().flat_map(about).collect()
}

/// How often each defect was counted.
fn defects(trace: &Trace) -> BTreeMap<&'static str, u64> {
    trace.warnings.iter().map(|warning| (warning.kind.name(), warning.count)).collect()
}

proptest! {
    #[test]
    fn an_element_says_the_same_whatever_stood_before_it(
        elements in prop::collection::vec(element(), 1..8),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
    ) {
        let order: Vec<&String> = order.iter().map(|index| index.get(&elements)).collect();
        let text = |elements: &[&String]| {
            let elements: Vec<_> = elements.iter().map(|element| element.as_str()).collect();
            format!("[{}]", elements.join(",\n  "))
        };
        let together = files::trace(&text(&order));
        let mut alone_rows = Vec::new();
        let mut alone_defects = BTreeMap::new();
        for element in &order {
            let alone = files::trace(&text(&[element]));
            for (kind, count) in defects(&alone) {
                *alone_defects.entry(kind).or_insert(0) += count;
            }
            alone_rows.extend(rows(alone));
        }
        let mut together_rows = rows(together.clone());
        alone_rows.sort();
        together_rows.sort();
        prop_assert_eq!(together_rows, alone_rows);
        prop_assert_eq!(defects(&together), alone_defects);
    }
}
