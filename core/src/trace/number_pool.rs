//! A pool of numbers, four bytes each where they fit.

/// An append-only list of numbers, read by index.
#[derive(Debug, Clone, Default)]
pub struct NumberPool {
    /// Twice the number; or, where that does not fit, twice its place in `wide`, and one.
    words: Vec<u32>,
    wide: Vec<i64>,
}

impl NumberPool {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Adds a number at the end.
    #[inline]
    pub fn push(&mut self, number: i64) {
        let word = word(number, &mut self.wide);
        self.words.push(word);
    }

    /// Adds numbers at the end.
    #[inline]
    pub fn extend(&mut self, numbers: impl IntoIterator<Item = i64>) {
        let wide = &mut self.wide;
        self.words.extend(numbers.into_iter().map(|number| word(number, wide)));
    }

    /// The number at a place.
    #[inline]
    pub fn get(&self, at: usize) -> i64 {
        match self.words[at] {
            word if word & 1 == 0 => i64::from(word as i32 >> 1),
            word => self.wide[(word >> 1) as usize],
        }
    }
}

#[inline]
fn word(number: i64, wide: &mut Vec<i64>) -> u32 {
    let doubled = (number as i32) << 1;
    if i64::from(doubled >> 1) == number {
        return doubled as u32;
    }
    wide.push(number);
    ((wide.len() - 1) as u32) << 1 | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_come_back() {
        let edges = [0, -1, 1, (1 << 30) - 1, 1 << 30, -(1 << 30), -(1 << 30) - 1, 1 << 31, i64::MAX, i64::MIN];
        let mut pool = NumberPool::default();
        pool.extend(edges);
        assert_eq!((0..pool.len()).map(|at| pool.get(at)).collect::<Vec<_>>(), edges);
        assert_eq!(pool.wide, [1 << 30, -(1 << 30) - 1, 1 << 31, i64::MAX, i64::MIN]);
    }
}
