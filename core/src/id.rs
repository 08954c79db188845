//! Handles: the index of a row in its table, as a type of its own.

use serde::{Deserialize, Serialize};

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The row as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            /// The handle of a row; a table never has more than `u32::MAX - 1` rows.
            fn from(row: usize) -> Self {
                Self(row as u32)
            }
        }
    };
}

handle! {
    /// Row in the event table. Not the event's `id`, which is its position in `traceEvents`.
    EventId
}
handle! {
    /// Row in the track table.
    TrackId
}
handle! {
    /// Row in the node table. The Execution Trace's `id` is another number.
    NodeId
}
handle! {
    /// A string in the arena.
    StrId
}
handle! {
    /// A template in the arguments' table.
    TemplateId
}
handle! {
    /// A call stack among the stacks of a memory snapshot.
    StackId
}
handle! {
    /// A frame of such stacks.
    FrameId
}

/// A column of optional handles, four bytes each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OptionalColumn(Vec<u32>);

/// Marks an empty place in an [`OptionalColumn`].
const NONE: u32 = u32::MAX;

impl OptionalColumn {
    /// A column of `len` empty places.
    pub fn empty(len: usize) -> Self {
        Self(vec![NONE; len])
    }

    /// The row's value.
    pub fn get(&self, row: usize) -> Option<u32> {
        self.0.get(row).copied().filter(|value| *value != NONE)
    }

    /// Sets the row's value.
    pub fn set(&mut self, row: usize, value: u32) {
        self.0[row] = value;
    }

    /// Empties the row's place.
    pub fn clear(&mut self, row: usize) {
        self.0[row] = NONE;
    }

    /// How many rows have a value.
    pub fn num_set(&self) -> usize {
        self.0.iter().filter(|value| **value != NONE).count()
    }
}
