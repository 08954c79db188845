//! The operation that the name of an entry states.

use crate::trace::collective::{CollectivePattern, known};

/// An operation, such as `all_reduce`, and the ends of a send or a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlightOperation<'a> {
    /// The name without backend and ends.
    pub(super) kind: &'a str,
    /// Sender and receiver, as indexes in the group; the sender of a receive from any is `None`.
    pub(super) ends: Option<(Option<i64>, i64)>,
}

impl<'a> FlightOperation<'a> {
    /// Reads a name: `backend:kind`, `backend:send 1->2` or `backend:recv 2<-1`.
    pub(super) fn parse(name: &'a str) -> Self {
        let name = name.rsplit_once(':').map_or(name, |(_, operation)| operation);
        let (kind, ends) = name.split_once(' ').unwrap_or((name, ""));
        let number = |text: &str| text.trim().parse::<i64>().ok().filter(|number| *number >= 0);
        let ends = match kind {
            "send" => ends.split_once("->").and_then(|(from, to)| Some((Some(number(from)?), number(to)?))),
            "recv" => ends.split_once("<-").and_then(|(to, from)| Some((number(from), number(to)?))),
            _ => None,
        };
        Self { kind, ends }
    }

    pub(super) fn is_p2p(&self) -> bool {
        matches!(self.kind, "send" | "recv")
    }

    pub(super) fn pattern(&self) -> Option<CollectivePattern> {
        known(self.kind).map(|(_, pattern)| pattern)
    }

    /// Whether each rank may have sizes of its own.
    fn is_uneven(&self) -> bool {
        self.pattern() == Some(CollectivePattern::AllToAll) || self.kind.ends_with("_v")
    }

    /// Whether all ranks have inputs of the same sizes.
    pub(super) fn has_equal_inputs(&self) -> bool {
        !self.is_uneven() && self.pattern() != Some(CollectivePattern::Scatter)
    }

    /// Whether all ranks have outputs of the same sizes.
    pub(super) fn has_equal_outputs(&self) -> bool {
        !self.is_uneven() && self.pattern() != Some(CollectivePattern::Gather)
    }

    /// Whether the inputs of all ranks have one type; those of a root count alone.
    pub(super) fn has_equal_input_types(&self) -> bool {
        !matches!(self.pattern(), Some(CollectivePattern::Scatter | CollectivePattern::Broadcast))
    }

    /// Whether the outputs of all ranks have one type.
    pub(super) fn has_equal_output_types(&self) -> bool {
        self.pattern() != Some(CollectivePattern::Gather)
    }

    /// Whether inputs and outputs of a rank have one type.
    pub(super) fn keeps_type(&self) -> bool {
        self.has_equal_input_types() && self.has_equal_output_types()
    }
}

#[cfg(test)]
mod tests {
    use super::FlightOperation;

    #[test]
    fn names_state_kind_and_ends() {
        let ends = |name| FlightOperation::parse(name).ends;
        assert_eq!(FlightOperation::parse("gloo:all_reduce").kind, "all_reduce");
        assert_eq!(FlightOperation::parse("my:backend:broadcast").kind, "broadcast");
        assert_eq!(FlightOperation::parse("all_gather").kind, "all_gather");
        assert_eq!(ends("gloo:send 1->2"), Some((Some(1), 2)));
        assert_eq!(ends("gloo:recv 3<-0"), Some((Some(0), 3)));
        assert_eq!(ends("gloo:recv 3<-?"), Some((None, 3)));
        assert_eq!([ends("gloo:send"), ends("gloo:send -1->2"), ends("gloo:send 1->"), ends("")], [None; 4]);
    }
}
