//! Reads counters of `rocprofv3`: values of single kernels, and samples over time.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::read::json_object::JsonObject;
use crate::read::sqlite::{MAX_TEXT_BYTES, SqlContent, SqlDatabase, SqlTable};
use crate::read::table_row::{TableColumns, integer, text};

/// Names and values of counters that are read.
const MAX_NAMES: usize = 100_000;
const MAX_VALUES: usize = 1 << 24;

/// The table of values.
pub(super) const VALUES: &str = "rocpd_pmc_event";
/// The table of names.
pub(super) const NAMES: &str = "rocpd_info_pmc";

/// Counters of one process.
#[derive(Debug, Default)]
pub(in crate::read) struct RocpdCounters {
    names: FxHashMap<i64, RocpdCounter>,
    /// Whether the database has a table of names.
    has_names: bool,
    /// Event, counter and value, in the order of the events.
    values: Vec<(i64, i64, f64)>,
    /// Events whose counters are in the trace.
    written: FxHashSet<i64>,
}

#[derive(Debug)]
struct RocpdCounter {
    name: String,
    agent: Option<i64>,
}

impl RocpdCounters {
    /// Of the tables of names and values.
    pub(super) fn new(
        database: &SqlDatabase<'_>,
        names: Option<&Arc<SqlTable>>,
        values: Option<&Arc<SqlTable>>,
    ) -> Self {
        let mut counters = Self { has_names: names.is_some(), ..Self::default() };
        let mut each =
            |table: Option<&Arc<SqlTable>>, columns: &[&str], max, take: fn(&mut Self, [SqlContent<'_>; 5])| {
                let Some(table) = table else { return };
                let (columns, mut rows) = (TableColumns::new(table, columns), database.rows(table, i64::MIN));
                // Rows before a fault are known.
                for _ in 0..max {
                    let Ok(Some(row)) = rows.next() else { break };
                    take(&mut counters, columns.of(row));
                }
            };
        each(names, &["id", "name", "symbol", "units", "agent_id"], MAX_NAMES, Self::add_name);
        each(values, &["event_id", "pmc_id", "value"], MAX_VALUES, Self::add_value);
        counters.values.sort_by_key(|(event, counter, _)| (*event, *counter));
        counters
    }

    fn add_name(&mut self, [id, name, symbol, unit, agent]: [SqlContent<'_>; 5]) {
        let word = |content| text(content).filter(|text| text.len() <= MAX_TEXT_BYTES).map(String::from_utf8_lossy);
        let (Some(id), Some(name)) = (integer(id), word(name).or_else(|| word(symbol))) else { return };
        let name = word(unit).map_or_else(|| name.clone().into_owned(), |unit| format!("{name} ({unit})"));
        self.names.insert(id, RocpdCounter { name, agent: integer(agent) });
    }

    fn add_value(&mut self, [event, counter, value, ..]: [SqlContent<'_>; 5]) {
        let value = match value {
            SqlContent::Real(value) if value.is_finite() => value,
            SqlContent::Integer(value) => value as f64,
            _ => return,
        };
        if let (Some(event), Some(counter)) = (integer(event), integer(counter)) {
            self.values.push((event, counter, value));
        }
    }

    /// Counters of an event with their values. Values of several units of the device add up.
    pub(super) fn of(&self, event: Option<i64>) -> impl Iterator<Item = (i64, f64)> + '_ {
        let found = event.map_or(&[][..], |event| {
            let first = self.values.partition_point(|(other, ..)| *other < event);
            let rest = &self.values[first..];
            &rest[..rest.partition_point(|(other, ..)| *other == event)]
        });
        let units = found.chunk_by(|(_, a, _), (_, b, _)| a == b);
        let sums = units.map(|units| (units[0].1, units.iter().map(|(.., value)| value).sum()));
        sums.filter(|(_, value): &(i64, f64)| value.is_finite())
    }

    pub(super) fn name(&self, counter: i64) -> String {
        self.names.get(&counter).map_or_else(|| format!("pmc {counter}"), |counter| counter.name.clone())
    }

    /// The processor that a counter is of.
    pub(super) fn agent(&self, counter: i64) -> Option<i64> {
        self.names.get(&counter)?.agent
    }

    /// Writes the counters of an event as arguments.
    pub(super) fn write_args(&mut self, event: Option<i64>, args: &mut JsonObject<'_>) {
        for (counter, value) in self.of(event) {
            args.field(&format!("counter {}", self.name(counter))).extend_from_slice(format!("{value:?}").as_bytes());
        }
        self.set_written(event);
    }

    /// Notes that the trace has the counters of an event.
    pub(super) fn set_written(&mut self, event: Option<i64>) {
        let has_counters = self.of(event).next().is_some();
        self.written.extend(event.filter(|_| has_counters));
    }

    /// Whether the trace has this value, with the name of its counter.
    pub(super) fn is_written(&self, event: i64, counter: i64) -> bool {
        let is_known = !self.has_names || self.names.contains_key(&counter);
        let is_read = || self.values.binary_search_by_key(&(event, counter), |(event, counter, _)| (*event, *counter));
        is_known && self.written.contains(&event) && is_read().is_ok()
    }
}
