//! What an operator's schema says of its arguments and results: which of them it writes, and which share memory.

/// What an operator does with the memory of an argument or of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No alias is noted: an argument is read, a result is new.
    Plain,
    /// `(a)`: the result shares the memory of an argument.
    Alias,
    /// `(a!)`: it is written in place.
    Write,
}

/// A parsed `op_schema`, such as `aten::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    arguments: Vec<Access>,
    results: Vec<Access>,
}

impl Schema {
    /// Parses a schema; what is no schema has no notes.
    pub fn new(text: &str) -> Self {
        let Some((call, results)) = text.rsplit_once(" -> ") else { return Self::default() };
        let arguments = call.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or_default();
        let results = results.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(results);
        Self { arguments: accesses(arguments), results: accesses(results) }
    }

    /// What it does with the argument at a place.
    pub fn argument(&self, at: usize) -> Access {
        self.arguments.get(at).copied().unwrap_or(Access::Plain)
    }

    /// What it does with the result at a place.
    pub fn result(&self, at: usize) -> Access {
        self.results.get(at).copied().unwrap_or(Access::Plain)
    }
}

/// The notes of a list's items; the `*` before arguments that go by their names is none of them.
fn accesses(list: &str) -> Vec<Access> {
    items(list).map(str::trim).filter(|item| !item.is_empty() && *item != "*").map(access).collect()
}

fn access(item: &str) -> Access {
    let declaration = item.split('=').next().unwrap_or(item);
    match declaration.split_once('(').and_then(|(_, note)| note.split_once(')')) {
        Some((note, _)) if note.contains('!') => Access::Write,
        Some(_) => Access::Alias,
        None => Access::Plain,
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
        let schema =
            Schema::new("aten::_foreach_add_.List(Tensor(a!)[] self, int[2] n=[1, 1], *, Tensor(b!) out) -> ()");
        assert_eq!(
            [0, 1, 2, 3].map(|at| schema.argument(at)),
            [Access::Write, Access::Plain, Access::Write, Access::Plain]
        );
        assert_eq!(schema.result(0), Access::Plain);
    }

    #[test]
    fn views_share_memory_and_writes_are_told_from_them() {
        let view = Schema::new("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)");
        assert_eq!((view.argument(0), view.result(0)), (Access::Alias, Access::Alias));
        let several = Schema::new("f(Tensor self) -> (Tensor(a!), Tensor)");
        assert_eq!((several.result(0), several.result(1)), (Access::Write, Access::Plain));
        assert_eq!(Schema::new("").argument(0), Access::Plain);
    }
}
