//! Walks over the rows of a table, which are a tree of pages.

use super::database::SqlDatabase;
use super::fault::SqlFault;
use super::page::{LeafCell, TreePage, number};
use super::record::SqlRecord;

/// The rows of a table that are still to come.
#[derive(Debug)]
pub(in crate::read) struct StoredRows<'d, 'a> {
    database: &'d SqlDatabase<'a>,
    /// The pages around the next row, each with the cell to go on with.
    levels: Vec<(TreePage, usize)>,
    /// Where the walk begins, until it has.
    start: Option<(u32, i64)>,
    /// Pages that may still be visited: each at most once, so that no loop is endless.
    num_left: u32,
    last: Option<i64>,
    record: SqlRecord,
}

/// No tree of 2³² pages has as many levels.
const MAX_LEVELS: usize = 40;
/// A longer row ends the walk.
const MAX_ROW_BYTES: usize = 1 << 26;

impl<'d, 'a> StoredRows<'d, 'a> {
    pub(super) fn new(database: &'d SqlDatabase<'a>, root: u32, from: i64) -> Self {
        Self {
            database,
            levels: Vec::new(),
            start: Some((root, from)),
            num_left: database.num_pages,
            last: None,
            record: SqlRecord::default(),
        }
    }

    /// The next row; `None` after the last one.
    pub(in crate::read) fn next(&mut self) -> Result<Option<&SqlRecord>, SqlFault> {
        if !self.go_to_leaf()? {
            return Ok(None);
        }
        let Some((page, at)) = self.levels.last_mut() else { return Ok(None) };
        let page = page.clone();
        let cell = page.leaf(*at)?;
        *at += 1;
        if self.last.is_some_and(|last| last >= cell.row) {
            return Err(page.fault("expected rows in the order of their numbers"));
        }
        self.last = Some(cell.row);
        self.take(&cell, &page)?;
        Ok(Some(&self.record))
    }

    /// How many rows are still to come, up to a limit.
    pub(in crate::read) fn count(mut self, limit: u64) -> Result<u64, SqlFault> {
        let mut count = 0;
        while count < limit && self.go_to_leaf()? {
            count += self.levels.pop().map_or(0, |(page, at)| (page.num_cells - at) as u64);
        }
        Ok(count.min(limit))
    }

    /// The row that [`Self::next`] gave last.
    pub(super) fn into_last(self) -> SqlRecord {
        self.record
    }

    /// The number of the last row of the tree below a page.
    pub(super) fn last(database: &'d SqlDatabase<'a>, root: u32) -> Result<Option<i64>, SqlFault> {
        let mut page = Self::new(database, root, i64::MIN).visit(root)?;
        for _ in 0..MAX_LEVELS {
            if page.is_leaf {
                let last = page.num_cells.checked_sub(1);
                return last.map(|at| page.leaf(at).map(|cell| cell.row)).transpose();
            }
            page = Self::new(database, root, i64::MIN).visit(page.child(page.num_cells)?)?;
        }
        Err(page.fault("expected fewer levels"))
    }

    /// Makes the innermost level a leaf with a row; false at the end.
    fn go_to_leaf(&mut self) -> Result<bool, SqlFault> {
        if let Some((root, from)) = self.start.take() {
            self.descend(root, from)?;
        }
        while let Some((page, at)) = self.levels.last_mut() {
            if page.is_leaf && *at < page.num_cells {
                return Ok(true);
            }
            // An inner page has a child behind its last cell.
            if page.is_leaf || *at > page.num_cells {
                self.levels.pop();
                continue;
            }
            let child = page.child(*at)?;
            *at += 1;
            self.descend(child, i64::MIN)?;
        }
        Ok(false)
    }

    /// Goes down to the first row whose number is at least `from`.
    fn descend(&mut self, root: u32, from: i64) -> Result<(), SqlFault> {
        let mut next = root;
        loop {
            let page = self.visit(next)?;
            if self.levels.len() > MAX_LEVELS {
                return Err(page.fault("expected fewer levels"));
            }
            let at = page.seek(from)?;
            if page.is_leaf {
                self.levels.push((page, at));
                return Ok(());
            }
            next = page.child(at)?;
            self.levels.push((page, at + 1));
        }
    }

    fn visit(&mut self, number: u32) -> Result<TreePage, SqlFault> {
        self.count_page(number)?;
        TreePage::new(self.database.page(number)?, number, self.database.usable)
    }

    fn count_page(&mut self, number: u32) -> Result<(), SqlFault> {
        let left = self.num_left.checked_sub(1);
        self.num_left = left.ok_or_else(|| SqlFault::at(number, "expected no page twice"))?;
        Ok(())
    }

    /// Takes a row, with the pages that it goes on in.
    fn take(&mut self, cell: &LeafCell<'_>, page: &TreePage) -> Result<(), SqlFault> {
        if cell.size > MAX_ROW_BYTES {
            return Err(page.fault("expected a row of at most 64 MiB"));
        }
        let mut bytes = std::mem::take(&mut self.record.bytes);
        bytes.clear();
        bytes.extend_from_slice(cell.local);
        let mut next = cell.overflow;
        while bytes.len() < cell.size {
            self.count_page(next)?;
            let more = self.database.page(next)?;
            let end = self.database.usable.min(4 + cell.size - bytes.len());
            bytes.extend_from_slice(&more[4..end]);
            next = number(&more, 0).unwrap_or(0);
        }
        self.record = SqlRecord { row: cell.row, bytes, ..std::mem::take(&mut self.record) };
        self.record.index().ok_or_else(|| page.fault("expected the values of a row"))
    }
}
