//! Units by the names of columns.

/// Endings of names with their units, in order of precedence.
const ENDINGS: [(&str, &str); 16] = [
    ("_ns", "ns"),
    ("bytes", "bytes"),
    ("gbps", "GB/s"),
    ("tflops", "TFLOP/s"),
    ("flops", "FLOP"),
    ("share", "fraction"),
    ("elems", "elements"),
    ("count", "count"),
    ("_id", "id"),
    ("rank", "number"),
    ("iteration", "number"),
    ("line", "number"),
    ("seq", "number"),
    ("seq_num", "number"),
    ("_place", "number"),
    ("thread", "number"),
];

/// Beginnings of names with their units.
const BEGINNINGS: [(&str, &str); 2] = [("num_", "count"), ("share_of_", "fraction")];

/// Whole names with their units.
const NAMES: [(&str, &str); 8] = [
    ("confidence", "fraction"),
    ("depth", "number"),
    ("device", "number"),
    ("id", "id"),
    ("index", "number"),
    ("stream", "number"),
    ("threads", "count"),
    ("window", "number"),
];

/// The unit of a column of numbers, by its name; `None` if the name does not state it.
///
/// `fraction` is a part of 1, `id` identifies a row, an event or a node, `number` is an ordinal or
/// the number of a rank, device, stream or iteration.
///
/// ```
/// use kinetoscope::schema::column_unit;
/// assert_eq!(column_unit("dur_ns"), Some("ns"));
/// assert_eq!(column_unit("busy_share"), Some("fraction"));
/// assert_eq!(column_unit("occupancy"), None);
/// ```
pub fn column_unit(name: &str) -> Option<&'static str> {
    let whole = NAMES.iter().find(|(known, _)| *known == name);
    let ending = || ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
    let beginning = || BEGINNINGS.iter().find(|(beginning, _)| name.starts_with(beginning));
    whole.or_else(ending).or_else(beginning).map(|(_, unit)| *unit)
}
