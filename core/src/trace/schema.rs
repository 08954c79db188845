//! Parses operator schemas: which arguments and results are written or share memory.

/// The memory access of an operator to an argument or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentAccess {
    /// No alias is noted: an argument is read, a result is new.
    Plain,
    /// `(a)`: the result shares the memory of an argument.
    Alias,
    /// `(a!)`: it is written in place.
    Write,
}

/// A parsed `op_schema`, such as `aten::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorSchema {
    arguments: Vec<ArgumentAccess>,
    results: Vec<ArgumentAccess>,
}

impl OperatorSchema {
    /// Parses a schema; other texts have no annotations.
    pub fn new(text: &str) -> Self {
        let Some((call, results)) = text.rsplit_once(" -> ") else { return Self::default() };
        let arguments = call.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or_default();
        let results = results.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(results);
        Self { arguments: accesses(arguments), results: accesses(results) }
    }

    /// The access to an argument by position.
    pub fn argument(&self, at: usize) -> ArgumentAccess {
        self.arguments.get(at).copied().unwrap_or(ArgumentAccess::Plain)
    }

    /// The access to a result by position.
    pub fn result(&self, at: usize) -> ArgumentAccess {
        self.results.get(at).copied().unwrap_or(ArgumentAccess::Plain)
    }
}

/// The notes of a list's items; the `*` before arguments that go by their names is none of them.
fn accesses(list: &str) -> Vec<ArgumentAccess> {
    items(list).map(str::trim).filter(|item| !item.is_empty() && *item != "*").map(access).collect()
}

fn access(item: &str) -> ArgumentAccess {
    let declaration = item.split('=').next().unwrap_or(item);
    match declaration.split_once('(').and_then(|(_, note)| note.split_once(')')) {
        Some((note, _)) if note.contains('!') => ArgumentAccess::Write,
        Some(_) => ArgumentAccess::Alias,
        None => ArgumentAccess::Plain,
    }
}

/// Splits at the commas that are inside of no bracket.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    list.split(move |letter| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_found_at_the_places_of_the_arguments() {
        let schema = OperatorSchema::new(
            "aten::_foreach_add_.List(Tensor(a!)[] self, int[2] n=[1, 1], *, Tensor(b!) out) -> ()",
        );
        assert_eq!(
            [0, 1, 2, 3].map(|at| schema.argument(at)),
            [ArgumentAccess::Write, ArgumentAccess::Plain, ArgumentAccess::Write, ArgumentAccess::Plain]
        );
        assert_eq!(schema.result(0), ArgumentAccess::Plain);
    }

    #[test]
    fn views_share_memory_and_writes_are_told_from_them() {
        let view = OperatorSchema::new("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)");
        assert_eq!((view.argument(0), view.result(0)), (ArgumentAccess::Alias, ArgumentAccess::Alias));
        let several = OperatorSchema::new("f(Tensor self) -> (Tensor(a!), Tensor)");
        assert_eq!((several.result(0), several.result(1)), (ArgumentAccess::Write, ArgumentAccess::Plain));
        assert_eq!(OperatorSchema::new("").argument(0), ArgumentAccess::Plain);
    }
}
