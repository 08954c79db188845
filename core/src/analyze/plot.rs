//! Declares how a host draws a table.

use serde::Serialize;

/// The way to draw a table: the meaning of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Plot {
    /// A bar a row, the first rows from the top; `parts` stand one after another in it.
    Bars {
        /// The column that names the bar.
        label: &'static str,
        /// The columns that add up to its length.
        parts: &'static [&'static str],
    },
    /// A waterfall: the first row before and after, and between both the change by each further
    /// row.
    Change {
        /// The column that names the rows.
        label: &'static str,
        /// The column of values before.
        before: &'static str,
        /// The column of values after.
        after: &'static str,
    },
    /// A step function of time for each value of `series`.
    Steps {
        /// The column of times, in nanoseconds.
        time: &'static str,
        /// The column of values, each of which lasts until the next.
        value: &'static str,
        /// The column that tells the functions apart, where there are several.
        series: Option<&'static str>,
    },
    /// A bar a row from its start to its end, on a line for each value of `lane`.
    Ranges {
        /// The column that names the line.
        lane: &'static str,
        /// The column of starts, in nanoseconds.
        start: &'static str,
        /// The column of ends, in nanoseconds.
        end: &'static str,
        /// The column that colours the bar.
        series: &'static str,
        /// The column whose number stands in the bar.
        label: &'static str,
    },
    /// A rectangle a row over time, on a panel for each value of a column.
    Bands {
        /// The columns of starts and ends, in nanoseconds.
        time: [&'static str; 2],
        /// The column of lower edges.
        bottom: &'static str,
        /// The column of heights.
        height: &'static str,
        /// The column that names the rectangle; also colours it, where nothing else does.
        label: &'static str,
        /// The column of categories of memory, which colour the rectangles.
        colour: &'static str,
        /// The column that tells the panels apart.
        panel: &'static str,
    },
    /// A map with a cell a row, and a panel for each value: darker is more.
    Heat {
        /// The column that tells the lines apart.
        row: &'static str,
        /// The column that names the lines, where their number is no name.
        name: Option<&'static str>,
        /// The column that tells the places on a line apart.
        column: &'static str,
        /// The columns that shade the cells.
        values: &'static [&'static str],
    },
    /// A cell a row at the place of its rank, and a panel for each division: equal colours belong
    /// together.
    #[cfg(feature = "machines")]
    Places {
        /// The column of ranks.
        rank: &'static str,
        /// The column that tells the panels apart.
        division: &'static str,
        /// The column that colours the cell.
        number: &'static str,
        /// The column that names the colour.
        name: &'static str,
    },
    /// A piece of memory a row, one after another, on as many lines as needed; a panel for each
    /// value of a column.
    Layout {
        /// The column of the segment, between which there is a gap.
        segment: &'static str,
        /// The column of sizes.
        bytes: &'static str,
        /// The column that colours the piece.
        state: &'static str,
        /// The column that names it.
        label: &'static str,
        /// The column of pools, each of which begins a line.
        pool: &'static str,
        /// The column that tells the panels apart.
        panel: &'static str,
    },
    /// A bar a row below that of the frame around it, as wide as its weight. Rows follow the row
    /// they are in.
    Flame {
        /// The column that names the bar.
        name: &'static str,
        /// The column of the number of frames around it.
        depth: &'static str,
        /// The column of its left end.
        start: &'static str,
        /// The column of its width.
        weight: &'static str,
        /// The column that colours it.
        kind: &'static str,
        /// The column of its change, which colours it instead.
        change: Option<&'static str>,
        /// The unit of its width.
        unit: &'static str,
    },
    /// A point a row, on axes that count in powers of ten.
    Points {
        /// The column to the right.
        x: &'static str,
        /// The column upwards.
        y: &'static str,
        /// The column that names the point.
        label: &'static str,
        /// The upper bound of the points.
        ceiling: Option<Ceiling>,
    },
}

/// Rooflines over points: lines that rise together to the right, until each reaches its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ceiling {
    /// The column of their height over a point.
    pub height: &'static str,
    /// The column of the height at which the line over a point is level.
    pub level: &'static str,
    /// The column that names the line over a point.
    pub label: &'static str,
}

/// The time columns of bars that exist on both sides: host and device.
const OWN_TIME: [&[&str]; 2] = [&["self_ns"], &["device_self_ns"]];

impl Plot {
    /// A point a row.
    pub(super) const fn points(x: &'static str, y: &'static str, label: &'static str) -> Self {
        Self::Points { x, y, label, ceiling: None }
    }

    /// Bars of own time: on the device, where there is any.
    pub(super) fn of_own_time(label: &'static str, has_device: bool) -> Self {
        Self::Bars { label, parts: OWN_TIME[usize::from(has_device)] }
    }

    /// Whether it is one of own time on the device.
    pub(super) fn is_of_device(&self) -> bool {
        matches!(self, Self::Bars { parts, .. } if *parts == OWN_TIME[1])
    }

    /// The same of own time, if it is one of that.
    pub(crate) fn with_device(self, has_device: bool) -> Self {
        match self {
            Self::Bars { label, parts } if OWN_TIME.contains(&parts) => Self::of_own_time(label, has_device),
            other => other,
        }
    }
}
