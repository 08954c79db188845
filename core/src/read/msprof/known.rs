//! Facts that the rows of several tables refer to.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::layer::NamedLayers;
use super::words::{API_LABELS, TEXTS, is_support};
use crate::read::json_object::{JsonObject, object};
use crate::read::sqlite::{SqlContent, SqlDatabase, SqlTable, TextTable};
use crate::read::table_export::TableFormat;
use crate::read::table_row::{KeyedLookup, TableColumns, TableRow, integer, text};

/// Rows of a table of codes, devices or facts that are read: several times as many as any has.
const MAX_FACTS: usize = 1000;
/// A device with a higher number has no name: names are in a list, each at its device's place.
const MAX_DEVICE: i64 = 1023;

/// Columns of a computation that are texts, each with its argument.
pub(super) const COMPUTE_TEXTS: [(&str, &str); 10] = [
    ("opType", "Op Type"),
    ("inputShapes", "Input Shapes"),
    ("inputDataTypes", "Input Data Types"),
    ("inputFormats", "Input Formats"),
    ("outputShapes", "Output Shapes"),
    ("outputDataTypes", "Output Data Types"),
    ("outputFormats", "Output Formats"),
    ("opState", "Op State"),
    ("hf32Eligible", "HF32 Eligible"),
    ("attrInfo", "Attributes"),
];
/// Its numbers, which had other names before 2025.
const COMPUTE_NUMBERS: [&str; 4] = ["blockNum", "mixBlockNum", "blockDim", "mixBlockDim"];

/// Facts of the tables.
#[derive(Default)]
pub(in crate::read) struct MsprofKnown {
    texts: TextTable,
    codes: FxHashMap<&'static str, FxHashMap<i64, String>>,
    /// Numbers of rows in `PYTORCH_API` with the numbers of their connections, sorted.
    connections: Vec<(i64, i64)>,
    /// Connections of device work, sorted.
    of_tasks: Vec<i64>,
    pub(super) compute: Option<KeyedLookup>,
    pub(super) communication: Option<KeyedLookup>,
    pub(super) schedule: Option<KeyedLookup>,
    pub(super) copies: Option<KeyedLookup>,
    pub(super) layers: NamedLayers,
    /// Groups of collectives in the order of the file.
    groups: FxHashMap<i64, i64>,
    /// Process and device of the first task.
    pub(super) first_place: Option<(i64, i64)>,
    devices: Vec<(i64, Vec<u8>)>,
    facts: Vec<(String, String)>,
    session: [Option<i64>; 2],
    rank: Option<i64>,
}

/// The table of the connections of operators, and its columns.
pub(super) const CONNECTIONS: &str = "CONNECTION_IDS";
pub(super) const CONNECTION: [&str; 2] = ["id", "connectionId"];

/// The task that a row in a table of details is of.
pub(super) const DETAILS_KEY: &str = "globalTaskId";

/// Tables of codes.
pub(super) const API_TYPES: &str = "ENUM_API_TYPE";
pub(super) const DATA_TYPES: &str = "ENUM_HCCL_DATA_TYPE";
pub(super) const COPY_KINDS: &str = "ENUM_MEMCPY_OPERATION";
pub(super) const MARKER_TYPES: &str = "ENUM_MSTX_EVENT_TYPE";

/// Whether an id is one. Others are -1, in 32 bits or in 64.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "filters take such functions")]
pub(super) fn is_set(id: &i64) -> bool {
    *id >= 0 && *id != i64::from(u32::MAX)
}

impl MsprofKnown {
    pub(super) fn new(database: &SqlDatabase<'_>, tables: &[Arc<SqlTable>]) -> Self {
        let table = |name: &str| tables.iter().find(|table| table.name == name);
        let texts = table(TEXTS).map(|table| TextTable::new(database, table, ["id", "value"]));
        let mut known = Self { texts: texts.unwrap_or_default(), ..Self::default() };
        for name in [API_TYPES, DATA_TYPES, COPY_KINDS, MARKER_TYPES] {
            let codes = known.codes.entry(name).or_default();
            each(database, table(name), &["id", "name"], MAX_FACTS, |[id, label]| {
                codes.extend(integer(id).zip(words(label)));
            });
        }
        each(database, table(CONNECTIONS), &CONNECTION, usize::MAX, |columns| {
            let [id, connection] = columns.map(integer);
            known.connections.extend(id.zip(connection));
        });
        for name in ["TASK", "COMMUNICATION_OP"] {
            each(database, table(name), &["connectionId"], usize::MAX, |[connection]| {
                known.of_tasks.extend(integer(connection).filter(is_set));
            });
        }
        known.connections.sort_unstable();
        known.of_tasks.sort_unstable();
        known.of_tasks.dedup();
        let lookup = |name: &str, columns: &[&str]| {
            table(name).map(|table| KeyedLookup::new(database, table, DETAILS_KEY, columns))
        };
        let texts = COMPUTE_TEXTS.map(|(own, _)| own);
        let compute: Vec<&str> = ["name"].into_iter().chain(texts).chain(COMPUTE_NUMBERS).collect();
        known.compute = lookup("COMPUTE_TASK_INFO", &compute);
        known.communication = lookup("COMMUNICATION_TASK_INFO", &["name", "srcRank", "dstRank", "size"]);
        known.schedule = lookup("COMMUNICATION_SCHEDULE_TASK_INFO", &["name"]);
        known.copies = lookup("MEMCPY_INFO", &["size", "memcpyOperation"]);
        known.take_facts(database, &table);
        known
    }

    fn take_facts<'t>(&mut self, database: &SqlDatabase<'_>, table: &dyn Fn(&str) -> Option<&'t Arc<SqlTable>>) {
        each(database, table("NPU_INFO"), &["id", "name"], MAX_FACTS, |[id, name]| {
            let id = integer(id).filter(|id| (0..=MAX_DEVICE).contains(id));
            self.devices.extend(id.zip(text(name).map(<[u8]>::to_vec)));
        });
        each(database, table("META_DATA"), &["name", "value"], MAX_FACTS, |[name, value]| {
            let is_public = |name: &String| name.starts_with("SCHEMA_VERSION");
            self.facts.extend(words(name).filter(is_public).zip(words(value)));
        });
        each(database, table("SESSION_TIME_INFO"), &["startTimeNs", "endTimeNs"], 1, |columns| {
            self.session = columns.map(integer);
        });
        let mut ranks = Vec::new();
        each(database, table("RANK_DEVICE_MAP"), &["rankId"], MAX_FACTS, |[rank]| ranks.extend(integer(rank)));
        // -1 stands for none; several are those of a node.
        self.rank = ranks.first().copied().filter(|rank| *rank >= 0 && ranks.len() == 1);
    }

    /// The text that a row refers to.
    pub(super) fn text(&mut self, row: &TableRow<'_>, id: Option<i64>) -> Option<Arc<[u8]>> {
        row.text(&mut self.texts, id.filter(is_set))
    }

    /// The label of a code.
    pub(super) fn label(&self, table: &str, code: Option<i64>) -> Option<&str> {
        let code = code?;
        let usual = || API_LABELS.iter().find(|(own, _)| table == API_TYPES && *own == code).map(|(_, label)| *label);
        self.codes.get(table)?.get(&code).map(String::as_str).or_else(usual)
    }

    /// The connections of an operator, whose row has their number.
    pub(super) fn connections(&self, row: &TableRow<'_>, id: Option<i64>) -> impl Iterator<Item = i64> + '_ {
        let found = id.filter(is_set).map_or(&[][..], |id| {
            let rest = &self.connections[self.connections.partition_point(|(own, _)| *own < id)..];
            let found = &rest[..rest.partition_point(|(own, _)| *own == id)];
            row.expect(!found.is_empty());
            found
        });
        found.iter().map(|(_, connection)| *connection)
    }

    /// Whether device work has this connection.
    pub(super) fn leads_to_work(&self, connection: i64) -> bool {
        self.of_tasks.binary_search(&connection).is_ok()
    }

    /// The number of a group.
    pub(super) fn group(&mut self, name: i64) -> i64 {
        let next = self.groups.len() as i64;
        *self.groups.entry(name).or_insert(next)
    }
}

/// Gives the columns of each row of a table, up to a fault.
fn each<const N: usize>(
    database: &SqlDatabase<'_>,
    table: Option<&Arc<SqlTable>>,
    columns: &[&str; N],
    max_rows: usize,
    mut take: impl FnMut([SqlContent<'_>; N]),
) {
    let Some(table) = table else { return };
    let (columns, mut rows) = (TableColumns::new(table, columns), database.rows(table, i64::MIN));
    for _ in 0..max_rows {
        let Ok(Some(row)) = rows.next() else { break };
        take(columns.of(row));
    }
}

fn words(content: SqlContent<'_>) -> Option<String> {
    text(content).map(|text| String::from_utf8_lossy(text).into_owned())
}

impl TableFormat for MsprofKnown {
    const UNREAD: &'static str = "msprof_unread";

    fn is_support(name: &str) -> bool {
        is_support(name)
    }

    fn write_header(&mut self, header: &mut JsonObject<'_>) {
        if let Some(last) = self.devices.iter().map(|(id, _)| *id).max() {
            let out = header.field("deviceProperties");
            for id in 0..=last {
                out.push(if id == 0 { b'[' } else { b',' });
                let name = self.devices.iter().find(|(own, _)| *own == id).map_or(&b""[..], |(_, name)| name);
                object(out, |device| {
                    device.integer("id", id);
                    device.text("name", name);
                });
            }
            out.push(b']');
        }
        if let Some(rank) = self.rank {
            header.object("distributedInfo", |info| info.integer("rank", rank));
        }
        header.object("msprof", |about| {
            for (name, value) in &self.facts {
                about.text(name, value.as_bytes());
            }
            for (name, time) in ["startTimeNs", "endTimeNs"].into_iter().zip(self.session) {
                if let Some(time) = time {
                    about.integer(name, time);
                }
            }
        });
    }
}
