//! Walks the statements of a generated kernel: elements that it loads and stores, and operations.

use rustc_hash::{FxHashMap, FxHashSet};

use super::definition::KernelDefinition;
use super::expression::{Operand, OperandNames, evaluate};

/// The work of a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct KernelWork {
    pub flops: i64,
    /// Elements by pointer.
    pub pointers: FxHashMap<String, PointerWork>,
}

/// The elements of a pointer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PointerWork {
    /// Elements that its loads reach, before anything is stored to it.
    pub num_read: i64,
    /// Elements that its stores reach.
    pub num_written: i64,
    /// The first and the last element that is reached.
    extent: Option<(i64, i64)>,
    /// Whether data or conditions choose the elements, so that the size of the tensor is needed.
    pub needs_size: bool,
}

impl PointerWork {
    /// Elements between the first and the last.
    pub(super) fn reach(&self) -> i64 {
        let Some((first, last)) = self.extent.filter(|_| !self.needs_size) else { return i64::MAX };
        last.saturating_sub(first.max(0)).saturating_add(1).max(0)
    }
}

/// The axes of the launch and of reductions, by the names that Inductor gives them.
const AXES: [&str; 6] = ["x", "y", "z", "r", "r0_", "r1_"];
/// Those of reductions.
const REDUCED_AXES: u8 = 0b11_1000;
/// Bits of a set of variables.
const MAX_VARIABLES: usize = 64;

/// A variable of indices.
#[derive(Debug, Clone, Copy)]
struct IndexVariable {
    /// How many values it takes.
    num_values: i64,
    /// The axes that it is of: a bit for each.
    axes: u8,
}

/// A statement that computes values for what is stored.
struct ComputedValue<'a> {
    targets: Vec<&'a str>,
    names: Vec<&'a str>,
    num_ops: i64,
}

struct KernelWalk<'a> {
    known: OperandNames,
    variables: Vec<IndexVariable>,
    /// The bit of each variable, by its statement and its number of values.
    bits: FxHashMap<(String, i64), u32>,
    num_of_axis: [Option<i64>; AXES.len()],
    /// The variables of reductions.
    reduced: u64,
    pointers: FxHashSet<&'a str>,
    work: KernelWork,
    /// Loads and stores that were counted.
    seen: FxHashSet<(&'a str, bool, String)>,
    values: Vec<ComputedValue<'a>>,
}

/// The work of a kernel with the sizes that the launch gives by place; `None` where the kernel has
/// statements of another form, or sizes are unknown.
pub(super) fn work(kernel: &KernelDefinition, sizes: &[Option<i64>]) -> Option<KernelWork> {
    if !kernel.is_whole {
        return None;
    }
    let parameters = || kernel.parameters.iter();
    let pointers = parameters().filter(|one| one.pointer.is_some()).map(|one| one.name.as_str()).collect();
    let mut walk = KernelWalk {
        known: OperandNames::default(),
        variables: Vec::new(),
        bits: FxHashMap::default(),
        num_of_axis: [None; AXES.len()],
        reduced: 0,
        pointers,
        work: KernelWork::default(),
        seen: FxHashSet::default(),
        values: Vec::new(),
    };
    for (parameter, size) in parameters().zip(sizes).filter(|(parameter, _)| parameter.pointer.is_none()) {
        walk.know(&parameter.name, size.map_or_else(Operand::default, Operand::number));
    }
    for statement in &kernel.statements {
        walk.statement(statement)?;
    }
    (!walk.seen.is_empty()).then(|| walk.finish())
}

impl<'a> KernelWalk<'a> {
    fn know(&mut self, name: &str, value: Operand) {
        self.known.insert(name.to_owned(), value);
        let Some(axis) = name.strip_suffix("numel").and_then(|axis| AXES.iter().position(|one| *one == axis)) else {
            return;
        };
        self.num_of_axis[axis] = value.bounds.filter(|(low, high)| low == high && *low >= 0).map(|(low, _)| low);
    }

    fn statement(&mut self, text: &'a str) -> Option<()> {
        if text.starts_with("tl.store(") || text.starts_with("tl.atomic_") {
            return self.store(text);
        }
        if FLOW.iter().any(|start| text.starts_with(start)) {
            return Some(());
        }
        let (target, value) = text.split_once(" = ")?;
        // A type may follow the name.
        let target = target.split(':').next()?.trim();
        if value.starts_with("tl.load(") {
            return self.load(target, value);
        }
        // A load in a longer expression, or a product, has another form.
        if ["tl.load(", "tl.dot", "tl.make_", "tl.atomic_"].iter().any(|call| value.contains(call)) {
            return None;
        }
        if target.ends_with("mask") || target.ends_with("offset") || target.ends_with("base") {
            return Some(());
        }
        let axis = target.strip_suffix("index").and_then(|axis| AXES.iter().position(|one| *one == axis));
        if let Some(axis) = axis.filter(|_| ["offset", "arange", "base"].iter().any(|part| value.contains(part))) {
            return self.axis(target, axis);
        }
        self.assign(target, value)
    }

    /// The index along an axis.
    fn axis(&mut self, target: &'a str, axis: usize) -> Option<()> {
        let num_values = self.num_of_axis[axis]?;
        let variable = IndexVariable { num_values, axes: 1 << axis };
        let bounds = Some((0, num_values.saturating_sub(1).max(0)));
        self.add_variable(target, target, variable, bounds)
    }

    fn add_variable(
        &mut self,
        target: &str,
        statement: &str,
        variable: IndexVariable,
        bounds: Option<(i64, i64)>,
    ) -> Option<()> {
        let next = self.variables.len() as u32;
        let bit = *self.bits.entry((statement.to_owned(), variable.num_values)).or_insert(next);
        if bit == next {
            if self.variables.len() == MAX_VARIABLES {
                return None;
            }
            self.variables.push(variable);
            if variable.axes & REDUCED_AXES != 0 {
                self.reduced |= 1 << bit;
            }
        }
        self.know(target, Operand { variables: 1 << bit, bounds, is_loaded: false });
        Some(())
    }

    fn assign(&mut self, target: &'a str, value: &'a str) -> Option<()> {
        let found = evaluate(value, &self.known, self.reduced)?;
        let operand = found.operand;
        let is_derived = found.num_ops > 0 && operand.variables != 0 && !operand.is_loaded;
        if is_derived && is_index_name(target) {
            let (low, high) = operand.bounds?;
            let num_values = high.saturating_sub(low).saturating_add(1);
            let variable = IndexVariable { num_values, axes: self.axes(operand.variables) };
            return self.add_variable(target, value, variable, operand.bounds);
        }
        let num_ops = found.num_ops.saturating_mul(self.count(found.variables));
        let targets: Vec<_> = target.split(',').map(str::trim).collect();
        for target in &targets {
            self.know(target, operand);
        }
        self.values.push(ComputedValue { targets, names: found.names, num_ops });
        Some(())
    }

    fn load(&mut self, target: &'a str, value: &'a str) -> Option<()> {
        let arguments = arguments(value.strip_prefix("tl.load(")?)?;
        let index = self.access(&arguments, 1, false)?;
        self.know(target, Operand { bounds: None, is_loaded: true, ..index });
        self.values.push(ComputedValue { targets: vec![target], names: Vec::new(), num_ops: 0 });
        Some(())
    }

    fn store(&mut self, text: &'a str) -> Option<()> {
        let is_atomic = text.starts_with("tl.atomic_");
        let arguments = arguments(text.split_once('(')?.1)?;
        let value = evaluate(arguments.get(1)?, &self.known, self.reduced)?;
        let mut num_ops = value.num_ops.saturating_mul(self.count(value.variables));
        if is_atomic {
            let index = self.access(&arguments, 2, false)?;
            num_ops = num_ops.saturating_add(self.count(index.variables | value.operand.variables));
        }
        self.access(&arguments, 2, true)?;
        self.values.push(ComputedValue { targets: Vec::new(), names: value.names, num_ops });
        Some(())
    }

    /// Counts the elements of a load or store; returns its index.
    fn access(&mut self, arguments: &[&'a str], mask_at: usize, is_store: bool) -> Option<Operand> {
        let place = arguments.first()?;
        let (pointer, index) = place.split_once('+').unwrap_or((place, "0"));
        let pointer = pointer.trim();
        if !self.pointers.contains(pointer) {
            return None;
        }
        let operand = evaluate(index, &self.known, self.reduced)?.operand;
        let mask = arguments.get(mask_at).filter(|mask| !mask.contains('='));
        let is_conditional = mask.is_some_and(|mask| !is_of_axes(mask));
        let is_new = self.seen.insert((pointer, is_store, index.replace(' ', "")));
        let count = self.count(operand.variables);
        let work = self.work.pointers.entry(pointer.to_owned()).or_default();
        let is_first = work.num_read == 0 && work.num_written == 0;
        work.needs_size |= operand.is_loaded || is_conditional || operand.bounds.is_none();
        let widest = |(low, high): (i64, i64), (first, last): (i64, i64)| (low.min(first), high.max(last));
        work.extent =
            if is_first { operand.bounds } else { operand.bounds.zip(work.extent).map(|(a, b)| widest(a, b)) };
        match (is_store, is_new) {
            (true, true) => work.num_written = work.num_written.saturating_add(count),
            // Elements that were stored before need not be read.
            (false, true) if work.num_written == 0 => work.num_read = work.num_read.saturating_add(count),
            _ => {}
        }
        Some(operand)
    }

    fn axes(&self, variables: u64) -> u8 {
        self.of(variables).fold(0, |axes, variable| axes | variable.axes)
    }

    fn of(&self, variables: u64) -> impl Iterator<Item = &IndexVariable> {
        self.variables.iter().enumerate().filter(move |(bit, _)| variables & (1 << bit) != 0).map(|(_, one)| one)
    }

    /// How many values what depends on these variables has, at most.
    fn count(&self, variables: u64) -> i64 {
        let axes = self.axes(variables);
        let of_axes = self.num_of_axis.iter().enumerate().filter(|(axis, _)| axes & (1 << axis) != 0);
        let of_axes = of_axes.fold(1, |product: i64, (_, number)| product.saturating_mul(number.unwrap_or(i64::MAX)));
        self.of(variables).fold(1, |product: i64, one| product.saturating_mul(one.num_values)).min(of_axes)
    }

    /// Counts the operations of values that are stored, not those of places and masks.
    fn finish(mut self) -> KernelWork {
        let mut wanted: FxHashSet<&str> = FxHashSet::default();
        for value in self.values.iter().rev() {
            let mut is_wanted = value.targets.is_empty();
            for target in &value.targets {
                is_wanted |= wanted.remove(target);
            }
            if is_wanted {
                self.work.flops = self.work.flops.saturating_add(value.num_ops);
                wanted.extend(&value.names);
            }
        }
        self.work
    }
}

/// Statements that neither compute nor move data.
const FLOW: [&str; 11] = [
    "for ",
    "if ",
    "elif ",
    "else:",
    "pass",
    "pid",
    "tl.device_assert(",
    "tl.debug_barrier(",
    "tl.static_assert(",
    "num_xblocks",
    "\"\"\"",
];

/// `x0`, `y1`, `r0_2`: a part of an index.
fn is_index_name(name: &str) -> bool {
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    AXES.iter().any(|axis| name.strip_prefix(axis).is_some_and(digits)) || name.ends_with("index")
}

/// Whether a mask only ends an axis.
fn is_of_axes(mask: &str) -> bool {
    let parts = mask.split(['&', '(', ')', ' ']).filter(|part| !part.is_empty());
    let is_of_axis = |part: &str| part.strip_suffix("mask").is_some_and(|axis| AXES.contains(&axis));
    parts.into_iter().all(|part| matches!(part, "None" | "True") || is_of_axis(part))
}

/// The arguments of a call, from behind its opening bracket.
fn arguments(text: &str) -> Option<Vec<&str>> {
    let (mut all, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' if depth == 0 => {
                all.push(text.get(start..at)?.trim());
                return Some(all);
            }
            b')' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                all.push(text.get(start..at)?.trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}
