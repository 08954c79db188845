//! A column of optional handles.

use super::chunked::CHUNK;

/// Optional handles: four bytes each, two where all are small, and none where there are none.
///
/// Chunks that are dropped serve other columns at once: linking makes and drops several columns.
#[derive(Debug, Clone, Default)]
pub struct OptionalColumn {
    chunks: Vec<HandleChunk>,
    len: usize,
}

/// The handles of some rows, each and one; zero is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum HandleChunk {
    #[default]
    Empty,
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl HandleChunk {
    #[inline]
    fn get(&self, at: usize) -> u32 {
        match self {
            Self::Empty => 0,
            Self::Narrow(places) => u32::from(places[at]),
            Self::Wide(places) => places[at],
        }
    }

    fn set(&mut self, at: usize, place: u32, len: usize) {
        match (&mut *self, u16::try_from(place)) {
            (Self::Empty, Ok(0)) => {}
            (Self::Narrow(places), Ok(place)) => places[at] = place,
            (Self::Wide(places), _) => places[at] = place,
            (other, narrow) => {
                *other = match (&*other, narrow) {
                    (Self::Narrow(places), _) => Self::Wide(places.iter().map(|place| u32::from(*place)).collect()),
                    (_, Ok(_)) => Self::Narrow(vec![0; len]),
                    (_, Err(_)) => Self::Wide(vec![0; len]),
                };
                self.set(at, place, len);
            }
        }
    }
}

impl OptionalColumn {
    /// A column of `len` empty places.
    pub fn empty(len: usize) -> Self {
        Self { chunks: vec![HandleChunk::Empty; len.div_ceil(CHUNK)], len }
    }

    /// The row's value.
    #[inline]
    pub fn get(&self, row: usize) -> Option<u32> {
        if row >= self.len {
            return None;
        }
        self.chunks[row / CHUNK].get(row % CHUNK).checked_sub(1)
    }

    /// Sets the row's value.
    pub fn set(&mut self, row: usize, value: u32) {
        // No table has so many rows that the last number is a handle.
        self.put(row, value.saturating_add(1));
    }

    /// Empties the row's place.
    pub fn clear(&mut self, row: usize) {
        self.put(row, 0);
    }

    fn put(&mut self, row: usize, place: u32) {
        let first = row - row % CHUNK;
        self.chunks[row / CHUNK].set(row % CHUNK, place, (self.len - first).min(CHUNK));
    }

    /// How many rows have a value.
    pub fn num_set(&self) -> usize {
        (0..self.len).filter(|row| self.get(*row).is_some()).count()
    }
}

impl PartialEq for OptionalColumn {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && (0..self.len).all(|row| self.get(row) == other.get(row))
    }
}

impl Eq for OptionalColumn {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_however_large_they_are() {
        let len = 3 * CHUNK + 9;
        let mut column = OptionalColumn::empty(len);
        let values = [(0, 0), (5, 65_534), (6, 7), (CHUNK, 65_535), (CHUNK + 1, 3), (3 * CHUNK + 8, u32::MAX - 1)];
        values.iter().for_each(|(row, value)| column.set(*row, *value));
        assert!(values.iter().all(|(row, value)| column.get(*row) == Some(*value)));
        assert_eq!((column.num_set(), column.get(1), column.get(len)), (6, None, None));
        column.set(6, 65_535);
        column.set(5, 1);
        column.clear(0);
        column.clear(2 * CHUNK);
        assert_eq!([0, 5, 6, 7].map(|row| column.get(row)), [None, Some(1), Some(65_535), None]);
        assert_eq!(column.chunks[2], HandleChunk::Empty);
    }
}
