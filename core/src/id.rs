//! Handles: the index of a row in its table, as a type of its own.

use serde::{Deserialize, Serialize};

/// The index of a row, as a type of its own.
pub trait Handle: Copy + Eq {
    /// The handle of a number.
    fn from_number(number: u32) -> Self;

    /// The number.
    fn number(self) -> u32;
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The row as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Handle for $name {
            #[inline]
            fn from_number(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
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
