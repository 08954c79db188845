//! Column values with nulls.

use serde::{Deserialize, Serialize};

/// Values in the order of their rows, each of which may be null.
///
/// ```
/// use kinetoscope::table::Cells;
/// let cells: Cells<i64> = [Some(3), None].into_iter().collect();
/// assert_eq!((cells.get(0), cells.get(1)), (Some(3), None));
/// assert_eq!(cells.into_parts(), (vec![3, 0], Some(vec![true, false])));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cells<T> {
    /// A null has the default.
    values: Vec<T>,
    /// Flags of non-null values; `None` while there is no null, as in most columns.
    valid: Option<Vec<bool>>,
}

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Self { values: Vec::new(), valid: None }
    }
}

impl<T: Copy + Default> Cells<T> {
    /// The value in a row; none for a null, and where there is no such row.
    pub fn get(&self, row: usize) -> Option<T> {
        let is_valid = self.valid.as_ref().is_none_or(|valid| valid.get(row).copied().unwrap_or_default());
        self.values.get(row).copied().filter(|_| is_valid)
    }

    /// How many there are; 0 where there are not as many of which it is known whether they are
    /// nulls.
    pub(super) fn len(&self) -> usize {
        let is_whole = self.valid.as_ref().is_none_or(|valid| valid.len() == self.values.len());
        if is_whole { self.values.len() } else { 0 }
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> {
        (0..self.values.len()).map(|row| self.get(row))
    }

    /// The values, with the default for each null, and which of them are no nulls, unless all are.
    pub fn into_parts(self) -> (Vec<T>, Option<Vec<bool>>) {
        (self.values, self.valid)
    }

    fn push(&mut self, value: Option<T>) {
        if value.is_none() {
            self.valid.get_or_insert_with(|| vec![true; self.values.len()]);
        }
        if let Some(valid) = &mut self.valid {
            valid.push(value.is_some());
        }
        self.values.push(value.unwrap_or_default());
    }

    /// Puts those of another after these.
    pub(super) fn append(&mut self, other: &Self) {
        if self.valid.is_some() || other.valid.is_some() {
            self.extend(other.iter());
        } else {
            self.values.extend_from_slice(&other.values);
        }
    }
}

impl<T: Copy + Default> Extend<Option<T>> for Cells<T> {
    fn extend<I: IntoIterator<Item = Option<T>>>(&mut self, more: I) {
        let more = more.into_iter();
        self.values.reserve(more.size_hint().0);
        more.for_each(|value| self.push(value));
    }
}

impl<T: Copy + Default> FromIterator<Option<T>> for Cells<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(all: I) -> Self {
        let mut cells = Self::default();
        cells.extend(all);
        cells
    }
}
