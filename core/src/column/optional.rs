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

/// The places of some rows: each is the handle and one, and zero is none.
#[derive(Debug, Clone)]
enum HandleChunk {
    Short(ShortHandles),
    Wide(Vec<u32>),
}

/// Places, two bytes each.
#[derive(Debug, Clone, Default)]
struct ShortHandles {
    /// How far after its origin each place is; zero is none. Empty while there are none.
    steps: Vec<u16>,
    /// The origin of the first one.
    origin: u32,
    /// How far each origin is after the one before: none for small handles, one for rows that are
    /// near their own.
    slope: u32,
    /// Those that are farther away, by their places in the chunk.
    far: FxHashMap<u16, u32>,
}

/// The step of a handle of the own row.
const MIDDLE: u32 = 1 << 15;
/// Marks a handle that is farther away.
const FAR: u16 = u16::MAX;
/// With more of these in a chunk, four bytes for each are less.
const MAX_FAR: usize = CHUNK / 16;

impl ShortHandles {
    /// Places of rows near their own, in a chunk with this first row.
    fn near(first: u32) -> Self {
        Self { origin: first.wrapping_sub(MIDDLE), slope: 1, ..Self::default() }
    }

    #[inline]
    fn origin(&self, at: usize) -> u32 {
        self.origin.wrapping_add(self.slope * at as u32)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one call for each row, not several, in code that is compiled for size")]
    fn get(&self, at: usize) -> u32 {
        match self.steps.get(at) {
            None | Some(0) => 0,
            Some(&FAR) => self.far(at),
            Some(step) => self.origin(at).wrapping_add(u32::from(*step)),
        }
    }

    #[cold]
    fn far(&self, at: usize) -> u32 {
        self.far.get(&(at as u16)).copied().unwrap_or_default()
    }

    /// Sets a place; false where it is too far.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one call for each row, not several, in code that is compiled for size")]
    fn set(&mut self, at: usize, place: u32) -> bool {
        let step = if place == 0 { 0 } else { place.wrapping_sub(self.origin(at)) };
        let is_near = step < u32::from(FAR) && (step == 0) == (place == 0);
        match self.steps.get_mut(at) {
            Some(place) if is_near => {
                *place = step as u16;
                true
            }
            _ => false,
        }
    }

    /// Sets a place however far it is, in a chunk of `len` rows; false where too many are.
    fn set_far(&mut self, at: usize, place: u32, len: usize) -> bool {
        self.steps.resize(len, 0);
        if self.set(at, place) {
            return true;
        }
        if self.slope > 0 {
            self.steps[at] = FAR;
            self.far.insert(at as u16, place);
        }
        self.slope > 0 && self.far.len() <= MAX_FAR
    }
}

impl Default for HandleChunk {
    fn default() -> Self {
        Self::Short(ShortHandles::default())
    }
}

impl HandleChunk {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one call for each row, not several, in code that is compiled for size")]
    fn get(&self, at: usize) -> u32 {
        match self {
            Self::Short(places) => places.get(at),
            Self::Wide(places) => places.get(at).copied().unwrap_or_default(),
        }
    }

    /// Sets a place; false where it does not fit.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one call for each row, not several, in code that is compiled for size")]
    fn set(&mut self, at: usize, place: u32) -> bool {
        match self {
            Self::Short(places) => places.set(at, place),
            Self::Wide(places) => {
                places[at] = place;
                true
            }
        }
    }

    /// Sets a place that does not fit, in a chunk with this first row, of `len` rows.
    #[cold]
    fn make_room(&mut self, at: usize, place: u32, first: u32, len: usize) {
        if let Self::Short(places) = self
            && (place == 0 && places.steps.is_empty() || places.set_far(at, place, len))
        {
            return;
        }
        *self = match self {
            Self::Short(places) if places.slope == 0 => self.near(first, len),
            _ => self.wide(len),
        };
        if !self.set(at, place) {
            self.make_room(at, place, first, len);
        }
    }

    /// How many rows have a place.
    fn len(&self) -> usize {
        match self {
            Self::Short(places) => places.steps.len(),
            Self::Wide(places) => places.len(),
        }
    }

    /// The same handles as rows near their own, if they are.
    fn near(&self, first: u32, len: usize) -> Self {
        let mut near = ShortHandles::near(first);
        near.steps = vec![0; self.len()];
        let has_room = |at| {
            let place = self.get(at);
            place == 0 || near.set(at, place) || near.set_far(at, place, len)
        };
        if (0..self.len()).all(has_room) { Self::Short(near) } else { self.wide(len) }
    }

    /// The same handles, four bytes each.
    fn wide(&self, len: usize) -> Self {
        Self::Wide((0..len).map(|at| self.get(at)).collect())
    }
}

impl OptionalColumn {
    /// A column of `len` empty places.
    pub fn empty(len: usize) -> Self {
        Self { chunks: vec![HandleChunk::default(); len.div_ceil(CHUNK)], len }
    }

    /// The row's value.
    #[inline]
    pub fn get(&self, row: usize) -> Option<u32> {
        self.chunks.get(row / CHUNK)?.get(row % CHUNK).checked_sub(1)
    }

    /// Sets the row's value.
    #[inline]
    pub fn set(&mut self, row: usize, value: u32) {
        // No table has so many rows that the last number is a handle.
        self.put(row, value.saturating_add(1));
    }

    /// Empties the row's place.
    pub fn clear(&mut self, row: usize) {
        self.put(row, 0);
    }

    #[inline]
    fn put(&mut self, row: usize, place: u32) {
        let chunk = &mut self.chunks[row / CHUNK];
        if !chunk.set(row % CHUNK, place) {
            let first = row - row % CHUNK;
            chunk.make_room(row % CHUNK, place, first as u32, (self.len - first).min(CHUNK));
        }
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
        assert!(matches!(&column.chunks[2], HandleChunk::Short(places) if places.steps.is_empty()));
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
        let is_near = |chunk: &HandleChunk| matches!(chunk, HandleChunk::Short(places) if places.slope == 1);
        assert_eq!(column.chunks.iter().map(is_near).collect::<Vec<_>>(), [false, true, true, true]);
        // Too many far ones.
        (0..CHUNK / 2).for_each(|at| set(&mut column, 3 * CHUNK + at, at));
        assert!(matches!(column.chunks[3], HandleChunk::Wide(_)));
        assert!((0..len).all(|row| column.get(row) == expected[row]));
        column.clear(2 * CHUNK + 4);
        column.set(2 * CHUNK + 3, 5);
        assert_eq!([3, 4].map(|at| column.get(2 * CHUNK + at)), [Some(5), None]);
    }
}
