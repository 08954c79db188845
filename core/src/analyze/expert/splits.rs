//! The parts of an exchange, as a record lists them.

use serde_json::Value;

/// The end of a list that the recorder cut.
const CUT_END: &str = ", ...]";

/// Rows to or from each rank of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SplitList {
    /// All of them.
    Whole(Vec<i64>),
    /// The first ones: the recorder cut the list.
    Cut(Vec<i64>),
    /// A list that cannot be read, or with a negative number.
    Unreadable,
}

impl SplitList {
    /// A list as recorded; `None` without one, and of an empty one, which stands for even parts.
    pub(super) fn of(text: Option<&str>) -> Option<Self> {
        let text = text.map(str::trim).filter(|text| !text.is_empty() && *text != "[]")?;
        if let Some(rows) = numbers(text) {
            return Some(Self::Whole(rows));
        }
        let start = text.strip_suffix(CUT_END).and_then(|start| numbers(&format!("{start}]")));
        Some(start.map_or(Self::Unreadable, Self::Cut))
    }

    /// The same, unless it lists other ranks than a group of this size has.
    pub(super) fn of_group(self, num_ranks: Option<i64>) -> Self {
        match &self {
            Self::Whole(rows) if num_ranks.is_some_and(|num| num != rows.len() as i64) => Self::Unreadable,
            _ => self,
        }
    }

    /// Rows of all ranks together.
    pub(super) fn total(&self) -> Option<i64> {
        let Self::Whole(rows) = self else { return None };
        rows.iter().try_fold(0_i64, |total, rows| total.checked_add(*rows))
    }

    /// Whether two listed ranks have unequal parts.
    pub(super) fn is_uneven(&self) -> bool {
        let (Self::Whole(rows) | Self::Cut(rows)) = self else { return false };
        rows.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// The numbers of a list, none of them negative.
fn numbers(text: &str) -> Option<Vec<i64>> {
    let list: Value = serde_json::from_str(text).ok()?;
    let number = |value: &Value| value.as_i64().filter(|number| *number >= 0);
    list.as_array()?.iter().map(number).collect::<Option<Vec<_>>>().filter(|numbers| !numbers.is_empty())
}

#[cfg(test)]
mod tests {
    use super::SplitList;

    #[test]
    fn lists_are_whole_or_cut_or_unreadable() {
        let of = |text| SplitList::of(Some(text));
        assert_eq!(of("[1, 2,3]"), Some(SplitList::Whole(vec![1, 2, 3])));
        assert_eq!(of("[1, 2, ...]"), Some(SplitList::Cut(vec![1, 2])));
        for hostile in ["[-1, 2]", "[99999999999999999999]", "[1.5]", "[1, ...", "..., ...]", "{}", "[[1]]"] {
            assert_eq!(of(hostile), Some(SplitList::Unreadable), "{hostile}");
        }
        assert_eq!([of("[]"), of(""), SplitList::of(None)], [None, None, None]);
        let sized = |num_ranks| of("[1, 2, 3]").unwrap().of_group(num_ranks);
        assert_eq!(sized(Some(2)), SplitList::Unreadable);
        assert_eq!((Some(sized(None)), Some(sized(Some(3)))), (of("[1, 2, 3]"), of("[1, 2, 3]")));
        assert_eq!(of("[9223372036854775807, 1]").and_then(|list| list.total()), None);
    }
}
