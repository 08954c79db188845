//! Evaluates expressions of generated kernels: the index variables in them, their least and
//! greatest value, and the operations.

use rustc_hash::FxHashMap;

/// A value of a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Operand {
    /// The index variables that it depends on: a bit for each.
    pub variables: u64,
    /// The least and the greatest value, where both are known.
    pub bounds: Option<(i64, i64)>,
    /// Whether it depends on loaded data.
    pub is_loaded: bool,
}

/// An expression.
#[derive(Debug, Default)]
pub(super) struct Evaluation<'a> {
    pub operand: Operand,
    /// Operations for each element.
    pub num_ops: i64,
    /// All index variables that occur, those that are reduced away too.
    pub variables: u64,
    /// Names in it that have a value.
    pub names: Vec<&'a str>,
}

/// Values by name.
pub(super) type OperandNames = FxHashMap<String, Operand>;

impl Operand {
    pub(super) fn number(value: i64) -> Self {
        Self { bounds: Some((value, value)), ..Self::default() }
    }

    fn with(self, other: Self) -> Self {
        Self { variables: self.variables | other.variables, bounds: None, is_loaded: self.is_loaded || other.is_loaded }
    }
}

/// Evaluates an expression of Python; `None` where it has a form that Inductor does not write.
/// `reduced` has the index variables that reductions remove.
pub(super) fn evaluate<'a>(text: &'a str, known: &OperandNames, reduced: u64) -> Option<Evaluation<'a>> {
    let mut parser = ExpressionParser { text, at: 0, depth: 0, known, reduced, found: Evaluation::default() };
    let operand = parser.binary(0)?;
    (parser.peek() == 0).then_some(Evaluation { operand, ..parser.found })
}

/// Levels of nested parentheses and signs.
const MAX_DEPTH: usize = 48;

struct ExpressionParser<'a, 'b> {
    text: &'a str,
    at: usize,
    depth: usize,
    known: &'b OperandNames,
    reduced: u64,
    found: Evaluation<'a>,
}

/// Operators of Python, longer ones first, each with its level.
const OPERATORS: [(&str, usize); 20] = [
    ("**", 7),
    ("//", 6),
    ("<<", 4),
    (">>", 4),
    ("<=", 0),
    (">=", 0),
    ("==", 0),
    ("!=", 0),
    ("<", 0),
    (">", 0),
    ("|", 1),
    ("^", 2),
    ("&", 3),
    ("+", 5),
    ("-", 5),
    ("*", 6),
    ("/", 6),
    ("%", 6),
    ("and ", 0),
    ("or ", 0),
];

impl<'a> ExpressionParser<'a, '_> {
    /// The next byte after spaces; 0 at the end.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == byte;
        self.at += usize::from(is_it);
        is_it
    }

    fn binary(&mut self, level: usize) -> Option<Operand> {
        let mut left = self.unary()?;
        loop {
            self.peek();
            let rest = self.text.get(self.at..)?;
            let found = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator));
            let Some((operator, own)) = found.filter(|(_, own)| *own >= level) else { return Some(left) };
            self.at += operator.len();
            let right = self.binary(own + 1)?;
            // Constants cost nothing.
            let varies = [left, right].iter().any(|one| one.variables != 0 || one.is_loaded);
            self.found.num_ops = self.found.num_ops.saturating_add(i64::from(varies));
            left = Operand { bounds: bounds(operator, left.bounds, right.bounds), ..left.with(right) };
        }
    }

    fn unary(&mut self) -> Option<Operand> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let sign = self.peek();
        let operand = if matches!(sign, b'-' | b'+' | b'~') {
            self.at += 1;
            let is_number = self.peek().is_ascii_digit();
            let operand = self.unary()?;
            self.found.num_ops = self.found.num_ops.saturating_add(i64::from(sign != b'+' && !is_number));
            let bounds = operand.bounds.filter(|_| sign != b'~');
            let negative = |(low, high): (i64, i64)| (high.saturating_neg(), low.saturating_neg());
            Operand { bounds: if sign == b'-' { bounds.map(negative) } else { bounds }, ..operand }
        } else {
            self.postfix()?
        };
        self.depth -= 1;
        Some(operand)
    }

    /// A value with the calls, attributes and subscripts after it.
    fn postfix(&mut self) -> Option<Operand> {
        let mut name = "";
        let mut value = match self.peek() {
            b'(' => {
                self.at += 1;
                self.arguments(b')')?.into_iter().reduce(Operand::with).unwrap_or_default()
            }
            b'[' => {
                self.at += 1;
                self.arguments(b']')?.into_iter().reduce(Operand::with).unwrap_or_default()
            }
            b'\'' | b'"' => self.quoted()?,
            b'0'..=b'9' => self.number()?,
            _ => {
                name = self.name()?;
                self.value_of(name)
            }
        };
        loop {
            match self.peek() {
                b'.' => {
                    self.at += 1;
                    name = self.name()?;
                }
                b'(' => {
                    self.at += 1;
                    let num_ops = self.found.num_ops;
                    let arguments = self.arguments(b')')?;
                    value = self.call(name, value, &arguments, num_ops);
                    name = "";
                }
                b'[' => {
                    self.at += 1;
                    let num_ops = self.found.num_ops;
                    self.arguments(b']')?;
                    self.found.num_ops = num_ops;
                }
                _ => return Some(value),
            }
        }
    }

    fn value_of(&mut self, name: &'a str) -> Operand {
        let Some(value) = self.known.get(name) else { return Operand::default() };
        self.found.names.push(name);
        self.found.variables |= value.variables;
        *value
    }

    /// Values up to a bracket; a parenthesis around one keeps its value.
    fn arguments(&mut self, end: u8) -> Option<Vec<Operand>> {
        let mut all = Vec::new();
        loop {
            if self.takes(end) {
                return Some(all);
            }
            // Parts of subscripts.
            if self.takes(b':') || self.takes(b',') {
                continue;
            }
            self.skip_keyword();
            all.push(self.binary(0)?);
        }
    }

    /// Skips `name=` before the value of an argument.
    fn skip_keyword(&mut self) {
        let start = self.at;
        self.peek();
        if self.name().is_some() && self.takes(b'=') && self.peek() != b'=' {
            return;
        }
        self.at = start;
    }

    fn name(&mut self) -> Option<&'a str> {
        self.peek();
        let rest = self.text.get(self.at..)?;
        let len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = rest.get(..len).filter(|name| !name.is_empty() && !name.as_bytes()[0].is_ascii_digit())?;
        self.at += len;
        Some(name)
    }

    fn quoted(&mut self) -> Option<Operand> {
        let quote = self.peek() as char;
        let len = self.text.get(self.at + 1..)?.find(quote)?;
        self.at += len + 2;
        Some(Operand::default())
    }

    fn number(&mut self) -> Option<Operand> {
        let rest = self.text.get(self.at..)?;
        let mut last = 0;
        let is_part = |byte: &u8| {
            let is_sign = matches!(byte, b'+' | b'-') && matches!(last, b'e' | b'E');
            last = *byte;
            is_sign || byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')
        };
        let len = rest.bytes().take_while(is_part).count();
        self.at += len;
        Some(rest.get(..len)?.parse().map_or_else(|_| Operand::default(), Operand::number))
    }

    /// The value of a call; `num_ops` are the operations before its arguments.
    fn call(&mut self, name: &str, receiver: Operand, arguments: &[Operand], num_ops: i64) -> Operand {
        let all = arguments.iter().copied().fold(receiver, Operand::with);
        let first = || if receiver == Operand::default() { arguments.first().copied() } else { Some(receiver) };
        match FunctionCost::of(name) {
            FunctionCost::Same => first().unwrap_or_default(),
            FunctionCost::Filled => arguments.get(1).copied().unwrap_or_default(),
            FunctionCost::Free => all,
            FunctionCost::Computed(ops) => {
                self.found.num_ops = self.found.num_ops.saturating_add(ops);
                all
            }
            FunctionCost::Reduced(ops) => {
                // A loop counted what it accumulated.
                let is_accumulated = self.found.names.last().is_some_and(|name| name.starts_with('_'));
                self.found.num_ops = self.found.num_ops.saturating_add(if is_accumulated { 0 } else { ops });
                Operand { variables: all.variables & !self.reduced, ..all }
            }
            FunctionCost::Index => {
                self.found.num_ops = num_ops;
                all
            }
        }
    }
}

/// A function as its operations are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FunctionCost {
    /// Its first argument, in another form.
    Same,
    /// Its second argument, in every element.
    Filled,
    /// It moves values.
    Free,
    /// The operations of an element of the result.
    Computed(i64),
    /// The operations of an element that is reduced.
    Reduced(i64),
    /// It computes places.
    Index,
}

/// As `reduction` counts variances and sums of exponentials.
const STATISTICS_OPS: i64 = 4;

impl FunctionCost {
    fn of(name: &str) -> Self {
        match name {
            "to" | "broadcast_to" | "reshape" | "view" | "expand_dims" | "cast" | "promote_to_tensor" | "trans" => {
                Self::Same
            }
            "full" => Self::Filled,
            "where" | "zeros" | "zeros_like" | "full_like" | "float" | "int" | "bool" | "" => Self::Free,
            "arange" | "program_id" | "num_programs" | "cdiv" => Self::Index,
            "sum" | "max" | "min" | "max2" | "min2" | "any" | "all" | "prod" | "xor_sum" | "reduce" | "argmax"
            | "argmin" | "max_with_index" | "min_with_index" => Self::Reduced(1),
            "welford_reduce" | "online_softmax_combine" => Self::Computed(STATISTICS_OPS),
            // Of results of a loop, which are counted there.
            "welford" | "online_softmax_reduce" => Self::Reduced(0),
            _ => Self::Computed(1),
        }
    }
}

fn bounds(operator: &str, left: Option<(i64, i64)>, right: Option<(i64, i64)>) -> Option<(i64, i64)> {
    let (left, right) = (left?, right?);
    match operator {
        "+" => Some((left.0.saturating_add(right.0), left.1.saturating_add(right.1))),
        "-" => Some((left.0.saturating_sub(right.1), left.1.saturating_sub(right.0))),
        "*" => {
            let of = |a: i64, b: i64| a.saturating_mul(b);
            let all = [of(left.0, right.0), of(left.0, right.1), of(left.1, right.0), of(left.1, right.1)];
            Some((all.into_iter().min()?, all.into_iter().max()?))
        }
        "//" if right.0 == right.1 && right.0 > 0 => Some((left.0.div_euclid(right.0), left.1.div_euclid(right.0))),
        "%" if right.0 == right.1 && right.0 > 0 => {
            let is_within = left.0 >= 0 && left.1 < right.0;
            Some(if is_within { left } else { (0, right.0 - 1) })
        }
        _ => None,
    }
}
