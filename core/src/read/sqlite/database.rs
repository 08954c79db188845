//! Opens a database and hands out its pages.

use std::cell::RefCell;
use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use super::cursor::StoredRows;
use super::fault::SqlFault;
use super::page::number;
use super::record::{SqlContent, SqlRecord};
use super::schema::SqlTable;

/// The bytes of a database.
trait DatabaseSource: Read + Seek + Send {}

impl<T: Read + Seek + Send> DatabaseSource for T {}

/// Finds rows by their numbers.
pub(in crate::read) trait FindsRows {
    /// The row of a number.
    fn row(&self, table: &SqlTable, number: i64) -> Result<Option<SqlRecord>, SqlFault>;
}

impl FindsRows for SqlDatabase<'_> {
    fn row(&self, table: &SqlTable, number: i64) -> Result<Option<SqlRecord>, SqlFault> {
        let mut rows = self.rows(table, number);
        rows.next()?;
        Ok(Some(rows.into_last()).filter(|record| record.row == number))
    }
}

/// An open database.
pub(in crate::read) struct SqlDatabase<'a> {
    source: RefCell<Box<dyn DatabaseSource + 'a>>,
    /// Pages that were used last, each in the slot of its number.
    kept: RefCell<Vec<Option<KeptPage>>>,
    page_bytes: usize,
    /// Bytes of a page that are in use.
    pub(super) usable: usize,
    pub(super) num_pages: u32,
}

/// A page by its number.
type KeptPage = (u32, Arc<[u8]>);

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER_BYTES: usize = 100;
/// Kept pages have at most so many bytes together.
const KEPT_BYTES: usize = 1 << 22;
/// `SQLite` allows no page with fewer bytes in use.
const MIN_USABLE: usize = 480;

impl fmt::Debug for SqlDatabase<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SqlDatabase").field("num_pages", &self.num_pages).finish_non_exhaustive()
    }
}

impl<'a> SqlDatabase<'a> {
    pub(in crate::read) fn open(mut source: impl Read + Seek + Send + 'a) -> Result<Self, SqlFault> {
        let refused = |found: String| Err(SqlFault::new(found));
        let file_bytes = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let mut header = Vec::new();
        source.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut header)?;
        if header.len() < HEADER_BYTES || !header.starts_with(MAGIC) {
            return refused(format!("{} bytes that do not begin with the header of one", header.len()));
        }
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 1 << 16,
            size => usize::from(size),
        };
        let usable = page_bytes.saturating_sub(usize::from(header[20]));
        if !page_bytes.is_power_of_two() || page_bytes < 512 || usable < MIN_USABLE {
            return refused(format!("pages of {page_bytes} bytes with {usable} in use"));
        }
        if matches!(number(&header, 56), Some(2 | 3)) {
            return refused(String::from("texts in UTF-16 (write it anew after PRAGMA encoding = 'UTF-8')"));
        }
        let num_pages = u32::try_from(file_bytes.div_ceil(page_bytes as u64)).unwrap_or(u32::MAX);
        // Old versions do not keep the number of pages; then the counters of changes differ.
        let claimed = number(&header, 28).filter(|_| header[24..28] == header[92..96]).unwrap_or(0);
        if claimed > num_pages {
            return refused(format!("{num_pages} of {claimed} pages"));
        }
        let num_kept = (KEPT_BYTES / page_bytes).min(num_pages as usize);
        let kept = RefCell::new(vec![None; num_kept]);
        Ok(Self { source: RefCell::new(Box::new(source)), kept, page_bytes, usable, num_pages })
    }

    pub(in crate::read) fn num_bytes(&self) -> u64 {
        u64::from(self.num_pages) * self.page_bytes as u64
    }

    /// A page; they count from 1. Missing bytes of the last one are zeros.
    pub(super) fn page(&self, page: u32) -> Result<Arc<[u8]>, SqlFault> {
        if page == 0 || page > self.num_pages {
            return Err(SqlFault::at(page, "expected a page of the file"));
        }
        let mut kept = self.kept.borrow_mut();
        let num_kept = kept.len();
        let slot = &mut kept[page as usize % num_kept];
        if let Some((number, bytes)) = slot
            && *number == page
        {
            return Ok(Arc::clone(bytes));
        }
        let mut source = self.source.borrow_mut();
        source.seek(SeekFrom::Start(u64::from(page - 1) * self.page_bytes as u64))?;
        let mut bytes = Vec::with_capacity(self.page_bytes);
        source.by_ref().take(self.page_bytes as u64).read_to_end(&mut bytes)?;
        bytes.resize(self.page_bytes, 0);
        let bytes: Arc<[u8]> = bytes.into();
        *slot = Some((page, Arc::clone(&bytes)));
        Ok(bytes)
    }

    /// All tables with stored rows, by name, but for those of `SQLite` itself.
    pub(in crate::read) fn tables(&self) -> Result<Vec<SqlTable>, SqlFault> {
        let (mut rows, mut tables) = (StoredRows::new(self, 1, i64::MIN), Vec::new());
        while let Some(row) = rows.next()? {
            let content = [0, 1, 3, 4].map(|at| row.stored(at));
            let [SqlContent::Text(b"table"), SqlContent::Text(name), SqlContent::Integer(root), SqlContent::Text(sql)] =
                content
            else {
                continue;
            };
            let (name, sql) = (String::from_utf8_lossy(name), String::from_utf8_lossy(sql));
            tables.extend(SqlTable::declared(&name, u32::try_from(root).unwrap_or(0), &sql));
        }
        crate::sort::by(&mut tables, |a, b| a.name.cmp(&b.name));
        Ok(tables)
    }

    /// The rows of a table in the order of their numbers, from one on.
    pub(in crate::read) fn rows(&self, table: &SqlTable, from: i64) -> StoredRows<'_, 'a> {
        StoredRows::new(self, table.root, from)
    }

    /// The number of the last row of a table.
    pub(in crate::read) fn last_row(&self, table: &SqlTable) -> Result<Option<i64>, SqlFault> {
        StoredRows::last(self, table.root)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;
    use rusqlite::types::{Value, ValueRef};
    use rusqlite::{Connection, params};

    use super::*;
    use crate::read::sqlite::StoredColumn;

    fn bytes(connection: &mut Connection) -> Vec<u8> {
        connection.serialize("main").unwrap().to_vec()
    }

    fn value(content: SqlContent<'_>) -> Value {
        match content {
            SqlContent::Null => Value::Null,
            SqlContent::Integer(number) => Value::Integer(number),
            SqlContent::Real(number) => Value::Real(number),
            SqlContent::Text(text) => ValueRef::Text(text).try_into().unwrap(),
            SqlContent::Blob(bytes) => Value::Blob(bytes.to_vec()),
        }
    }

    /// All rows of a table as this reader and as `SQLite` read them.
    fn both(connection: &mut Connection, name: &str) -> [Vec<Vec<Value>>; 2] {
        let content = bytes(connection);
        let database = SqlDatabase::open(Cursor::new(&content)).unwrap();
        let tables = database.tables().unwrap();
        let table = tables.iter().find(|table| table.name == name).unwrap();
        let (mut rows, mut ours) = (database.rows(table, i64::MIN), Vec::new());
        while let Some(row) = rows.next().unwrap() {
            ours.push(table.columns.iter().map(|column| value(column.of(row))).collect());
        }
        assert_eq!(database.rows(table, i64::MIN).count(u64::MAX).unwrap(), ours.len() as u64);
        let names: Vec<_> =
            table.columns.iter().map(|column| format!("\"{}\"", column.name.replace('"', "\"\""))).collect();
        let mut query =
            connection.prepare(&format!("SELECT {} FROM {name} ORDER BY _rowid_", names.join(", "))).unwrap();
        let row = |row: &rusqlite::Row<'_>| (0..names.len()).map(|at| row.get::<_, Value>(at)).collect();
        let theirs = query.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap();
        [ours, theirs]
    }

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::Integer),
            (-300_i64..300).prop_map(Value::Integer),
            (-1e300..1e300).prop_map(Value::Real),
            (0_usize..9000).prop_map(|length| Value::Text("é".repeat(length))),
            proptest::collection::vec(any::<u8>(), 0..40).prop_map(Value::Blob),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn rows_are_those_of_sqlite(
            rows in proptest::collection::vec((any::<i64>(), [values(), values(), values()]), 0..120),
            page in 9_u32..=16,
            gone in 0_i64..7,
        ) {
            let mut connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(&format!("PRAGMA page_size = {}; CREATE TABLE t (a, id INTEGER PRIMARY KEY, b REAL, c TEXT);", 1 << page)).unwrap();
            for (number, [a, b, c]) in &rows {
                connection.execute("INSERT OR IGNORE INTO t VALUES (?1, ?2, ?3, ?4)", params![a, number, b, c]).unwrap();
            }
            connection.execute("DELETE FROM t WHERE id % 7 = ?1", [gone]).unwrap();
            let [ours, theirs] = both(&mut connection, "t");
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn damage_ends_in_words(at in any::<prop::sample::Index>(), change in 1_u8..) {
            let mut connection = Connection::open_in_memory().unwrap();
            connection.execute_batch("PRAGMA page_size = 512; CREATE TABLE t (a, b);
                WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300)
                INSERT INTO t SELECT x, printf('%.*c', x * 3, 'x') FROM n;").unwrap();
            let mut content = bytes(&mut connection);
            let at = at.index(content.len());
            content[at] ^= change;
            let Ok(database) = SqlDatabase::open(Cursor::new(&content)) else { return Ok(()) };
            for table in database.tables().unwrap_or_default() {
                let (mut rows, mut count) = (database.rows(&table, i64::MIN), 0);
                while let Ok(Some(_)) = rows.next() {
                    count += 1;
                }
                prop_assert!(count <= 400, "{count}");
                let _ = (database.last_row(&table), database.row(&table, 7));
            }
        }
    }

    #[test]
    fn columns_are_found_in_any_declaration() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t /* (a, b */ (\"a,\"\"(\" INTEGER DEFAULT (1) -- , x
                , [id] INTEGER NOT NULL, `c d` VARCHAR(10, 2) CHECK (`c d` <> ')'), e DOUBLE PRECISION,
                f AS (id + 1), g INT GENERATED ALWAYS AS (id * 2) STORED, 'h' FLOATING POINT, PRIMARY KEY (ID));
                INSERT INTO t (\"a,\"\"(\", id, `c d`, e, h) VALUES (1, 20, 'x', 3, 4), (NULL, 10, NULL, 2.5, 5);
                ALTER TABLE t ADD COLUMN late TEXT;
                CREATE TABLE u (id INTEGER(8) PRIMARY KEY, b); INSERT INTO u VALUES (7, 1), (3, 2);
                CREATE TABLE v (id INTEGER PRIMARY KEY DESC, b); INSERT INTO v VALUES (7, 1), (3, 2);
                CREATE TABLE w AS SELECT 1 AS x, 2.0 AS y;",
            )
            .unwrap();
        let content = bytes(&mut connection);
        let database = SqlDatabase::open(Cursor::new(&content)).unwrap();
        let tables = database.tables().unwrap();
        let names = |columns: &[StoredColumn]| columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&tables[0].columns), ["a,\"(", "id", "c d", "e", "h", "late"]);
        let found: Vec<_> = tables.iter().map(|table| (&*table.name, table.is_found_by("id"))).collect();
        assert_eq!(found, [("t", true), ("u", false), ("v", false), ("w", false)]);
        assert_eq!(tables[0].column("LATE").map(|column| &*column.name), Some("late"));
        for name in ["t", "u", "v", "w"] {
            let [ours, theirs] = both(&mut connection, name);
            assert_eq!(ours, theirs, "{name}");
        }
        assert_eq!(database.last_row(&tables[0]).unwrap(), Some(20));
        let row = database.row(&tables[0], 20).unwrap().unwrap();
        assert_eq!(tables[0].columns[3].of(&row), SqlContent::Real(3.0));
        assert!(database.row(&tables[0], 11).unwrap().is_none());
    }
}
