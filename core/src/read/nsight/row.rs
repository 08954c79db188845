//! A row of a table; its values may have any type, whatever the columns declare.

use std::cell::Cell;
use std::sync::Arc;

use super::column::{ColumnForm, SqlColumn};
use super::name::{NsightNames, write_code};
use crate::read::environment::is_private_key;
use crate::read::json_object::{JsonObject, push_text};
use crate::read::sqlite::{FindsRows, MAX_TEXT_BYTES, SqlContent, SqlRecord};

/// The columns of a table with a known meaning, and the others.
#[derive(Debug)]
pub(super) struct SqlLayout {
    pub(super) columns: Vec<SqlColumn>,
    /// Where each of the columns is that are taken; none for those that the table lacks.
    taken: Vec<Option<usize>>,
    /// The others.
    rest: Vec<usize>,
}

impl SqlLayout {
    pub(super) fn new(columns: Vec<SqlColumn>, takes: &[&str]) -> Self {
        let place = |name: &&str| columns.iter().position(|own| own.column.name == *name);
        let taken: Vec<_> = takes.iter().map(place).collect();
        let rest = (0..columns.len()).filter(|at| !taken.contains(&Some(*at))).collect();
        Self { columns, taken, rest }
    }
}

/// A row that is being read.
pub(super) struct SqlRow<'a> {
    pub(super) database: &'a dyn FindsRows,
    pub(super) record: &'a SqlRecord,
    pub(super) layout: &'a SqlLayout,
    pub(super) faults: &'a RowFaults,
}

/// Values that are not of their columns' types, that are too long, or that refer to nothing.
#[derive(Debug, Default)]
pub(super) struct RowFaults {
    count: Cell<u64>,
    first: Cell<Option<usize>>,
}

impl RowFaults {
    fn add(&self, column: usize) {
        self.count.set(self.count.get() + 1);
        self.first.set(self.first.get().or(Some(column)));
    }

    /// Number since the last call, and the column of the first.
    pub(super) fn take(&self) -> Option<(u64, usize)> {
        let count = self.count.take();
        self.first.take().map(|first| (count, first))
    }
}

/// A value in a row.
#[derive(Clone, Copy)]
pub(super) struct SqlValue<'a> {
    content: SqlContent<'a>,
    column: usize,
    row: &'a SqlRow<'a>,
}

impl SqlRow<'_> {
    /// The values of the columns that are taken, null for each that the table lacks.
    pub(super) fn taken<const N: usize>(&self) -> [SqlValue<'_>; N] {
        std::array::from_fn(|at| match self.layout.taken.get(at).copied().flatten() {
            Some(column) => self.value(column),
            None => SqlValue { content: SqlContent::Null, column: 0, row: self },
        })
    }

    fn value(&self, column: usize) -> SqlValue<'_> {
        SqlValue { content: self.layout.columns[column].column.of(self.record), column, row: self }
    }

    /// Writes the numbers among the columns that are not taken: texts may be private.
    pub(super) fn write_numbers(&self, names: &mut NsightNames, args: &mut JsonObject<'_>) {
        for &at in &self.layout.rest {
            let (column, value) = (&self.layout.columns[at], self.value(at));
            let is_number = matches!(value.content, SqlContent::Integer(_) | SqlContent::Real(_));
            if is_number && column.form != ColumnForm::Name && !is_private_key(&column.column.name) {
                value.write(column, names, args);
            }
        }
    }

    /// Writes all columns that are not taken, each as the argument that it becomes.
    pub(super) fn write_rest(&self, names: &mut NsightNames, args: &mut JsonObject<'_>) {
        for &at in &self.layout.rest {
            self.value(at).write(&self.layout.columns[at], names, args);
        }
    }
}

impl SqlValue<'_> {
    fn fault(self) {
        self.row.faults.add(self.column);
    }

    /// An integer; none for null and, with a fault, for anything else.
    pub(super) fn integer(self) -> Option<i64> {
        match self.content {
            SqlContent::Integer(number) => Some(number),
            SqlContent::Null => None,
            _ => {
                self.fault();
                None
            }
        }
    }

    /// A text; the one with that number in `StringIds`, where it is a number. Empty for null and,
    /// with a fault, for anything else.
    pub(super) fn name(self, names: &mut NsightNames) -> Arc<[u8]> {
        match self.content {
            SqlContent::Integer(id) => names.text(self.row.database, id).unwrap_or_else(|| {
                self.fault();
                id.to_string().into_bytes().into()
            }),
            SqlContent::Text(text) if text.len() <= MAX_TEXT_BYTES => text.into(),
            SqlContent::Null => Arc::default(),
            SqlContent::Text(_) | SqlContent::Real(_) | SqlContent::Blob(_) => {
                self.fault();
                Arc::default()
            }
        }
    }

    /// Whether there is a value.
    pub(super) fn is_some(self) -> bool {
        !matches!(self.content, SqlContent::Null)
    }

    /// Whether there is a meaningful value.
    pub(super) fn is_set(self) -> bool {
        !matches!(self.content, SqlContent::Null | SqlContent::Integer(0) | SqlContent::Text([]))
            && !matches!(self.content, SqlContent::Real(number) if number == 0.0)
    }

    /// The value as a text, if it is a text or an integer.
    pub(super) fn words(self) -> Option<String> {
        match self.content {
            SqlContent::Integer(number) => Some(number.to_string()),
            SqlContent::Text(text) if text.len() <= MAX_TEXT_BYTES => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        }
    }

    /// Writes the value under `key`, as it is.
    pub(super) fn write_plain(self, key: &str, args: &mut JsonObject<'_>) {
        match self.content {
            SqlContent::Null | SqlContent::Text([]) => {}
            SqlContent::Integer(number) => args.integer(key, number),
            SqlContent::Real(number) if number.is_finite() => {
                args.field(key).extend_from_slice(format!("{number:?}").as_bytes());
            }
            SqlContent::Text(text) if text.len() <= MAX_TEXT_BYTES => push_text(args.field(key), text),
            SqlContent::Text(_) | SqlContent::Real(_) | SqlContent::Blob(_) => self.fault(),
        }
    }

    fn write(self, column: &SqlColumn, names: &mut NsightNames, args: &mut JsonObject<'_>) {
        let key = &column.argument;
        match (column.form, self.content) {
            (ColumnForm::NonZero, SqlContent::Integer(0)) => {}
            (ColumnForm::Name, SqlContent::Integer(_)) => args.text(key, &self.name(names)),
            (ColumnForm::Label(table), SqlContent::Integer(code)) => write_code(args, key, table, (code, names)),
            _ => self.write_plain(key, args),
        }
    }
}
