//! Reads the columns of a table from the text that declares it.

use super::column::{ColumnPlace, StoredColumn};

/// A table whose rows are stored: no view, and none that code stands behind.
#[derive(Debug)]
pub(in crate::read) struct SqlTable {
    pub(in crate::read) name: String,
    pub(in crate::read) columns: Vec<StoredColumn>,
    pub(super) root: u32,
}

impl SqlTable {
    /// The table that a text declares; `None` if it is another thing.
    pub(super) fn declared(name: &str, root: u32, sql: &str) -> Option<Self> {
        let is_table = sql.get(..13).is_some_and(|start| start.eq_ignore_ascii_case("CREATE TABLE "));
        if !is_table || name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_")) {
            return None;
        }
        Some(Self { name: name.to_owned(), columns: columns(&tokens(sql)), root })
    }

    pub(in crate::read) fn column(&self, name: &str) -> Option<&StoredColumn> {
        // SQL does not tell cases of letters apart: old versions of RPD write `gridz`.
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Whether rows can be found by this column at once.
    pub(in crate::read) fn is_found_by(&self, name: &str) -> bool {
        self.column(name).is_some_and(|column| column.place == ColumnPlace::RowNumber)
    }
}

/// A piece of a text in SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SqlToken {
    /// A name in quotes, without them, or a string.
    Quoted(String),
    /// A name, a word of the language, or a number.
    Word(String),
    Mark(u8),
}

impl SqlToken {
    fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own.eq_ignore_ascii_case(word))
    }

    fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    fn text(&self) -> &str {
        match self {
            Self::Quoted(text) | Self::Word(text) => text,
            Self::Mark(_) => "",
        }
    }
}

fn tokens(sql: &str) -> Vec<SqlToken> {
    let (bytes, mut at, mut found) = (sql.as_bytes(), 0, Vec::new());
    let end_of = |from: usize, end: &str| sql[from..].find(end).map_or(sql.len(), |place| from + place + end.len());
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'"' | b'`' | b'\'' | b'[' => {
                let (text, end) = quoted(sql, start, if byte == b'[' { ']' } else { char::from(byte) });
                found.push(SqlToken::Quoted(text));
                at = end;
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => at = end_of(at, "\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = end_of(at + 2, "*/"),
            _ if is_name(byte) => {
                at += bytes[start..].iter().take_while(|byte| is_name(**byte)).count();
                found.push(SqlToken::Word(sql[start..at].to_owned()));
            }
            _ => {
                at += 1;
                found.extend((!byte.is_ascii_whitespace()).then_some(SqlToken::Mark(byte)));
            }
        }
    }
    found
}

/// Whether a byte may be in a name without quotes.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

/// The text in quotes from a place on, and where it ends. Two quotes in it stand for one.
fn quoted(sql: &str, start: usize, quote: char) -> (String, usize) {
    let (mut text, mut letters) = (String::new(), sql[start + 1..].char_indices().peekable());
    while let Some((at, letter)) = letters.next() {
        if letter != quote {
            text.push(letter);
        } else if quote != ']' && letters.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return (text, start + 1 + at + 1);
        }
    }
    (text, sql.len())
}

/// The columns among the first parentheses.
fn columns(tokens: &[SqlToken]) -> Vec<StoredColumn> {
    let (mut columns, mut key, mut num_stored) = (Vec::new(), None, 0);
    for tokens in definitions(tokens) {
        let Some((name, rest)) = tokens.split_first() else { continue };
        if name.is_one_of(&["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]) {
            key = key.or(key_column(tokens));
            continue;
        }
        let about = ColumnWords::of(rest);
        if about.computed != ComputedColumn::No {
            num_stored += usize::from(about.computed == ComputedColumn::Stored);
            continue;
        }
        if about.is_key {
            key = Some(name.text());
        }
        let is_integer = about.kind.eq_ignore_ascii_case("INTEGER") && !about.is_descending;
        let place = ColumnPlace::Stored(num_stored);
        columns.push((StoredColumn { name: name.text().to_owned(), place, is_real: about.is_real() }, is_integer));
        num_stored += 1;
    }
    // The primary key is the number of the row, if it is one column of integers.
    let is_key = |column: &StoredColumn| key.is_some_and(|key| key.eq_ignore_ascii_case(&column.name));
    let placed = |(mut column, is_integer): (StoredColumn, bool)| {
        if is_integer && is_key(&column) {
            column.place = ColumnPlace::RowNumber;
        }
        column
    };
    columns.into_iter().map(placed).collect()
}

/// The tokens between the commas of the first parentheses.
fn definitions(tokens: &[SqlToken]) -> Vec<&[SqlToken]> {
    let Some(open) = tokens.iter().position(|token| *token == SqlToken::Mark(b'(')) else { return Vec::new() };
    let (mut depth, mut start, mut found) = (1, open + 1, Vec::new());
    for (at, token) in tokens.iter().enumerate().skip(open + 1) {
        match token {
            SqlToken::Mark(b'(') => depth += 1,
            SqlToken::Mark(b')') => depth -= 1,
            SqlToken::Mark(b',') if depth == 1 => {
                found.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if depth == 0 {
            found.push(&tokens[start..at]);
            break;
        }
    }
    found
}

/// The only column of a primary key that is declared after the columns.
fn key_column(tokens: &[SqlToken]) -> Option<&str> {
    let at = tokens.iter().position(|token| token.is_word("PRIMARY"))?;
    match tokens.get(at..)? {
        [_, _, SqlToken::Mark(b'('), name, SqlToken::Mark(b')'), ..] => Some(name.text()),
        _ => None,
    }
}

/// A column's declaration behind its name.
#[derive(Default)]
struct ColumnWords {
    kind: String,
    is_key: bool,
    is_descending: bool,
    computed: ComputedColumn,
}

/// Whether a column is computed, and if so, whether its values are stored.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum ComputedColumn {
    #[default]
    No,
    Stored,
    OnDemand,
}

impl ColumnWords {
    fn of(tokens: &[SqlToken]) -> Self {
        const AFTER_KIND: [&str; 11] = [
            "AS",
            "CHECK",
            "COLLATE",
            "CONSTRAINT",
            "DEFAULT",
            "GENERATED",
            "NOT",
            "NULL",
            "PRIMARY",
            "REFERENCES",
            "UNIQUE",
        ];
        let (mut about, mut depth, mut is_kind) = (Self::default(), 0, true);
        for (at, token) in tokens.iter().enumerate() {
            depth += i32::from(*token == SqlToken::Mark(b'(')) - i32::from(*token == SqlToken::Mark(b')'));
            is_kind &= !token.is_one_of(&AFTER_KIND);
            if is_kind {
                // Only the bare word INTEGER makes a primary key the number of the row.
                about.kind.push_str(if *token == SqlToken::Mark(b'(') { "(" } else { token.text() });
            }
            if depth > 0 {
                continue;
            }
            if token.is_word("PRIMARY") {
                about.is_key = true;
                about.is_descending = tokens.get(at + 2).is_some_and(|next| next.is_word("DESC"));
            }
            if token.is_word("AS") {
                let is_stored = tokens[at..].iter().any(|token| token.is_word("STORED"));
                about.computed = if is_stored { ComputedColumn::Stored } else { ComputedColumn::OnDemand };
            }
        }
        about
    }

    /// Whether numbers of the column are reals, by the rules that `SQLite` has for kinds.
    fn is_real(&self) -> bool {
        let kind = self.kind.to_ascii_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
        !has(&["INT", "CHAR", "CLOB", "TEXT", "BLOB"]) && has(&["REAL", "FLOA", "DOUB"])
    }
}
