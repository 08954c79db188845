//! Nodes of the Execution Trace in call order, with their nested calls.

use crate::column::OptionalColumn;
use crate::sort;
use crate::trace::node::Node;

/// Nodes by their place in the order of calls: the observer counts ids up as calls begin.
#[derive(Debug, Default)]
pub(super) struct CallOrder {
    /// Row of the node at each place.
    pub(super) rows: Vec<u32>,
    parent: OptionalColumn,
    /// Place of the last call inside, or its own.
    last: Vec<u32>,
    /// In a numbering where calls follow the one that they are inside of without a gap: its number,
    /// and the first after.
    numbers: Vec<(u32, u32)>,
}

impl CallOrder {
    pub(super) fn new(nodes: &[Node], parent_of_node: &OptionalColumn) -> Self {
        let mut rows: Vec<u32> = (0..nodes.len() as u32).collect();
        sort::by_key(&mut rows, |row| nodes[*row as usize].id);
        let mut place_of = vec![0; rows.len()];
        for (place, row) in rows.iter().enumerate() {
            place_of[*row as usize] = place as u32;
        }
        let mut parent = OptionalColumn::empty(rows.len());
        for (place, row) in rows.iter().enumerate() {
            let around = parent_of_node.get(*row as usize).map(|row| place_of[row as usize]);
            // A damaged file may name a later node, or go round in a circle.
            if let Some(around) = around.filter(|around| (*around as usize) < place) {
                parent.set(place, around);
            }
        }
        let (last, numbers) = number(&parent, rows.len());
        Self { rows, parent, last, numbers }
    }

    /// Whether the call at `place` is inside the one at `around`, or is it.
    pub(super) fn is_inside(&self, place: u32, around: u32) -> bool {
        let (first, end) = self.numbers[around as usize];
        (first..end).contains(&self.numbers[place as usize].0)
    }

    /// The calls that end when the one at `place` has begun and no other begins inside of them:
    /// innermost first.
    pub(super) fn ended(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        let outwards = std::iter::successors(Some(place), |place| self.parent.get(*place as usize));
        outwards.take_while(move |other| self.last[*other as usize] == place)
    }
}

fn number(parent: &OptionalColumn, len: usize) -> (Vec<u32>, Vec<(u32, u32)>) {
    let mut last: Vec<u32> = (0..len as u32).collect();
    let mut sizes = vec![1_u32; len];
    for place in (0..len).rev() {
        if let Some(around) = parent.get(place) {
            sizes[around as usize] += sizes[place];
            last[around as usize] = last[around as usize].max(last[place]);
        }
    }
    let (mut free, mut free_of) = (0, vec![0; len]);
    let mut numbers = Vec::with_capacity(len);
    for place in 0..len {
        let next = parent.get(place).map_or(&mut free, |around| &mut free_of[around as usize]);
        let own = *next;
        *next += sizes[place];
        free_of[place] = own + 1;
        numbers.push((own, own + sizes[place]));
    }
    (last, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_end_with_the_last_one_inside_of_them() {
        let ids = [(5, None), (1, None), (2, Some(1)), (3, Some(2)), (4, Some(1))];
        let nodes: Vec<_> = ids.iter().map(|(id, _)| Node { id: *id, ..Node::default() }).collect();
        let mut parents = OptionalColumn::empty(nodes.len());
        for (row, (_, parent)) in ids.iter().enumerate() {
            if let Some(parent) = parent {
                parents.set(row, *parent);
            }
        }
        let calls = CallOrder::new(&nodes, &parents);
        assert_eq!(calls.rows, [1, 2, 3, 4, 0]);
        let ended: Vec<Vec<u32>> = (0..5).map(|place| calls.ended(place).collect()).collect();
        assert_eq!(ended, [vec![], vec![], vec![2, 1], vec![3, 0], vec![4]]);
        assert!(calls.is_inside(2, 1) && calls.is_inside(2, 0) && calls.is_inside(1, 1));
        assert!(!calls.is_inside(3, 1) && !calls.is_inside(4, 0));
    }
}
