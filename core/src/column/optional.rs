//! A column of optional handles.

use rustc_hash::FxHashMap;

use super::chunked::CHUNK;

/// Optional handles: two bytes each where all are small or most are rows near their own, four
/// elsewhere, and none where there are none.
///
/// Chunks that are dropped serve other columns at once: linking makes and drops several columns.
#[derive(Debug, Clone, Default)]
pub struct OptionalColumn {
    chunks: Vec<HandleChunk>,
    len: usize,
}

/// The handles of some rows, each and one; zero is none.
#[derive(Debug, Clone, Default)]
enum HandleChunk {
    #[default]
    Empty,
    Narrow(Vec<u16>),
    Near(NearHandles),
    Wide(Vec<u32>),
}

/// Handles of rows that are mostly near the own row.
#[derive(Debug, Clone)]
struct NearHandles {
    /// The own row of the first one.
    first: u32,
    /// How far before its own row each one is, above the middle; zero is none.
    steps: Vec<u16>,
    /// Those that are farther away, by their places in the chunk.
    far: FxHashMap<u16, u32>,
}

/// The step of a handle of the own row.
const MIDDLE: i64 = 1 << 15;
/// Marks a handle that is farther away.
const FAR: u16 = u16::MAX;
/// With more of these in a chunk, four bytes for each are less.
const MAX_FAR: usize = CHUNK / 16;

impl NearHandles {
    /// None yet, in a chunk with this first row.
    fn empty(first: u32, len: usize) -> Self {
        Self { first, steps: vec![0; len], far: FxHashMap::default() }
    }

    #[inline]
    fn get(&self, at: usize) -> u32 {
        match self.steps[at] {
            0 => 0,
            FAR => self.far.get(&(at as u16)).copied().unwrap_or_default(),
            step => (i64::from(self.first) + at as i64 + MIDDLE - i64::from(step)) as u32,
        }
    }

    /// Sets a place; false where too many are far.
    #[inline]
    fn set(&mut self, at: usize, place: u32) -> bool {
        let step = i64::from(self.first) + at as i64 + MIDDLE - i64::from(place);
        let near = u16::try_from(step).ok().filter(|step| (1..FAR).contains(step));
        self.steps[at] = if place == 0 { 0 } else { near.unwrap_or(FAR) };
        if self.steps[at] == FAR {
            self.far.insert(at as u16, place);
        }
        self.far.len() <= MAX_FAR
    }
}

impl HandleChunk {
    #[inline]
    fn get(&self, at: usize) -> u32 {
        match self {
            Self::Empty => 0,
            Self::Narrow(places) => u32::from(places[at]),
            Self::Near(places) => places.get(at),
            Self::Wide(places) => places[at],
        }
    }

    /// Sets the place of a row in a chunk with this first row, of `len` rows.
    fn set(&mut self, at: usize, place: u32, first: usize, len: usize) {
        let narrow = u16::try_from(place);
        let fits = match (&mut *self, narrow) {
            (Self::Empty, Ok(0)) => true,
            (Self::Narrow(places), Ok(place)) => {
                places[at] = place;
                true
            }
            (Self::Near(places), _) => places.set(at, place),
            (Self::Wide(places), _) => {
                places[at] = place;
                true
            }
            (Self::Empty | Self::Narrow(_), _) => false,
        };
        if fits {
            return;
        }
        *self = match (&*self, narrow) {
            (Self::Empty, Ok(_)) => Self::Narrow(vec![0; len]),
            (Self::Near(_), _) => Self::Wide((0..len).map(|at| self.get(at)).collect()),
            _ => self.near(first as u32, len),
        };
        self.set(at, place, first, len);
    }

    /// The same handles as rows near their own, if they are.
    fn near(&self, first: u32, len: usize) -> Self {
        let mut near = NearHandles::empty(first, len);
        if (0..len).all(|at| near.set(at, self.get(at))) {
            return Self::Near(near);
        }
        Self::Wide((0..len).map(|at| self.get(at)).collect())
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
        self.chunks[row / CHUNK].set(row % CHUNK, place, first, (self.len - first).min(CHUNK));
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
        assert!(matches!(column.chunks[2], HandleChunk::Empty));
    }

    #[test]
    fn rows_near_their_own_take_two_bytes() {
        let len = 4 * CHUNK;
        let mut column = OptionalColumn::empty(len);
        let mut expected = vec![None; len];
        let mut set = |column: &mut OptionalColumn, row: usize, value: usize| {
            column.set(row, value as u32);
            expected[row] = Some(value as u32);
        };
        // The far row comes first, as a small number does.
        for row in 2 * CHUNK..len {
            set(&mut column, row, if row.is_multiple_of(100) { 7 } else { row - 3 });
        }
        let edges = [(0, 32_766), (1, 32_767), (2, 32_768), (3, 32_769), (4, 90_000), (40_000, 7_232), (40_001, 7_233)];
        for (at, distance) in edges {
            set(&mut column, 2 * CHUNK + at, 2 * CHUNK + at - distance);
            set(&mut column, CHUNK + at, CHUNK + at + distance);
        }
        assert!(matches!(
            column.chunks[..],
            [HandleChunk::Empty, HandleChunk::Near(_), HandleChunk::Near(_), HandleChunk::Near(_)]
        ));
        // Too many far ones.
        (0..CHUNK / 2).for_each(|at| set(&mut column, 3 * CHUNK + at, at));
        assert!(matches!(column.chunks[3], HandleChunk::Wide(_)));
        assert!((0..len).all(|row| column.get(row) == expected[row]));
        column.clear(2 * CHUNK + 4);
        column.set(2 * CHUNK + 3, 5);
        assert_eq!([3, 4].map(|at| column.get(2 * CHUNK + at)), [Some(5), None]);
    }
}
