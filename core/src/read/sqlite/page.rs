//! Finds cells in a page of a table.

use std::sync::Arc;

use super::fault::SqlFault;

/// A page of a table's tree.
#[derive(Debug, Clone)]
pub(super) struct TreePage {
    pub(super) bytes: Arc<[u8]>,
    pub(super) number: u32,
    pub(super) is_leaf: bool,
    pub(super) num_cells: usize,
    /// Where the page's own header begins.
    start: usize,
    /// Bytes that are in use; the rest belongs to extensions.
    usable: usize,
}

const INNER: u8 = 5;
const LEAF: u8 = 13;
/// The page 1 begins with the header of the file.
const FILE_HEADER: usize = 100;

impl TreePage {
    pub(super) fn new(bytes: Arc<[u8]>, number: u32, usable: usize) -> Result<Self, SqlFault> {
        let start = if number == 1 { FILE_HEADER } else { 0 };
        let is_leaf = match bytes[start] {
            LEAF => true,
            INNER => false,
            _ => return Err(SqlFault::at(number, "expected a page of a table with row numbers")),
        };
        let num_cells = usize::from(u16::from_be_bytes([bytes[start + 3], bytes[start + 4]]));
        let page = Self { bytes, number, is_leaf, num_cells, start, usable };
        if page.places() + 2 * num_cells > usable {
            return Err(page.fault("expected fewer cells than fit a page"));
        }
        Ok(page)
    }

    pub(super) fn fault(&self, what: &str) -> SqlFault {
        SqlFault::at(self.number, what)
    }

    /// Where the list of cells begins.
    fn places(&self) -> usize {
        self.start + if self.is_leaf { 8 } else { 12 }
    }

    fn cell(&self, at: usize) -> Result<&[u8], SqlFault> {
        let place = self.places() + 2 * at;
        let offset = usize::from(u16::from_be_bytes([self.bytes[place], self.bytes[place + 1]]));
        self.bytes[..self.usable].get(offset..).ok_or_else(|| self.fault("expected a cell inside of its page"))
    }

    /// The first cell whose row number is at least `row`.
    pub(super) fn seek(&self, row: i64) -> Result<usize, SqlFault> {
        let (mut low, mut high) = (0, self.num_cells);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.row(middle)? >= row { high = middle } else { low = middle + 1 }
        }
        Ok(low)
    }

    /// The row number of a cell: that of its row, or the largest below its child.
    fn row(&self, at: usize) -> Result<i64, SqlFault> {
        if self.is_leaf {
            return Ok(self.leaf(at)?.row);
        }
        let (row, _) = self.varint(self.cell(at)?, 4)?;
        Ok(row)
    }

    /// The page below a cell, or below all of them for the place after the last.
    pub(super) fn child(&self, at: usize) -> Result<u32, SqlFault> {
        let bytes = if at < self.num_cells { self.cell(at)? } else { &self.bytes[self.start + 8..] };
        number(bytes, 0).ok_or_else(|| self.fault("expected a child"))
    }

    /// The row in a cell of a leaf.
    pub(super) fn leaf(&self, at: usize) -> Result<LeafCell<'_>, SqlFault> {
        let cell = self.cell(at)?;
        let (size, next) = self.varint(cell, 0)?;
        let (row, next) = self.varint(cell, next)?;
        let size = usize::try_from(size).map_err(|_| self.fault("expected the size of a row"))?;
        let num_local = num_local(size, self.usable);
        let rest = &cell[next..];
        let local = rest.get(..num_local).ok_or_else(|| self.fault("expected all of a row"))?;
        let overflow = if num_local < size { number(rest, num_local) } else { Some(0) };
        let overflow = overflow.ok_or_else(|| self.fault("expected where a row goes on"))?;
        Ok(LeafCell { row, size, local, overflow })
    }

    fn varint(&self, bytes: &[u8], at: usize) -> Result<(i64, usize), SqlFault> {
        varint(bytes, at).ok_or_else(|| self.fault("expected a number"))
    }
}

/// A row as it is stored.
pub(super) struct LeafCell<'a> {
    pub(super) row: i64,
    /// Bytes of the whole row.
    pub(super) size: usize,
    /// Those of them in the page.
    pub(super) local: &'a [u8],
    /// The page with the others; 0 for none.
    pub(super) overflow: u32,
}

/// How many bytes of a row of `size` are in its page, of which `usable` bytes are in use.
fn num_local(size: usize, usable: usize) -> usize {
    if size <= usable - 35 {
        return size;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let wanted = least + (size - least) % (usable - 4);
    if wanted <= usable - 35 { wanted } else { least }
}

/// A number of four bytes.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// A number of one to nine bytes, and where the next thing begins.
pub(super) fn varint(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut value = 0_u64;
    for (index, byte) in bytes.get(at..)?.iter().take(8).enumerate() {
        value = value << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some((value as i64, at + index + 1));
        }
    }
    let last = bytes.get(at + 8)?;
    Some(((value << 8 | u64::from(*last)) as i64, at + 9))
}
