//! Finds the definitions of generated kernels in files that Inductor wrote.

use rustc_hash::FxHashMap;

use super::super::super::dtype::{Dtype, named};
use crate::link::SourceFile;

/// A kernel of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct KernelDefinition {
    /// The name of the function.
    name: String,
    /// Parameters that a launch gives, in order.
    pub parameters: Vec<KernelParameter>,
    /// Statements, each on one line, without spaces around it.
    pub statements: Vec<String>,
    /// Whether the file shows all statements, none of them too long.
    pub is_whole: bool,
    /// Bytes by Inductor's own count.
    pub stated_bytes: Option<i64>,
    /// Operations by Inductor's own count.
    pub stated_flops: Option<i64>,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KernelParameter {
    pub name: String,
    /// The element type of a pointer.
    pub pointer: Option<Dtype>,
}

/// Definitions by name and by file.
#[derive(Debug, Default)]
pub(super) struct KernelDefinitions {
    all: Vec<KernelDefinition>,
    /// Of a name that two kernels have, none.
    by_name: FxHashMap<String, Option<usize>>,
    /// By the base name of files of one kernel.
    by_file: FxHashMap<String, Option<usize>>,
}

impl KernelDefinitions {
    pub(super) fn of(files: &[SourceFile]) -> Self {
        let mut definitions = Self::default();
        for file in files.iter().filter(|file| file.text.contains("triton_")) {
            let first = definitions.all.len();
            definitions.all.extend(DefinitionReader::read(&file.text));
            let of_file = first..definitions.all.len();
            for at in of_file.clone() {
                let name = definitions.all[at].name.clone();
                add(&mut definitions.by_name, name, at, &definitions.all);
            }
            if of_file.len() == 1 {
                let name = SourceFile::base_name(&file.name).to_owned();
                add(&mut definitions.by_file, name, first, &definitions.all);
            }
        }
        definitions
    }

    /// The place of the kernel of a file, or else of the only one of a name.
    pub(super) fn find(&self, name: &str, file: Option<&str>) -> Option<usize> {
        let of_file = file.and_then(|file| self.by_file.get(SourceFile::base_name(file)));
        *of_file.or_else(|| self.by_name.get(name))?
    }

    pub(super) fn at(&self, at: usize) -> &KernelDefinition {
        &self.all[at]
    }
}

fn add(map: &mut FxHashMap<String, Option<usize>>, key: String, at: usize, all: &[KernelDefinition]) {
    let known = map.entry(key).or_insert(Some(at));
    if known.is_some_and(|known| known != at && all[known] != all[at]) {
        *known = None;
    }
}

/// Statements of one kernel that are read.
const MAX_STATEMENTS: usize = 4000;
/// Characters of one statement that are read.
const MAX_STATEMENT: usize = 4000;

#[derive(Debug, Default)]
struct DefinitionReader {
    all: Vec<KernelDefinition>,
    /// The name before a text with a kernel, the types of its parameters, and Inductor's counts.
    name: Option<String>,
    signature: FxHashMap<String, Option<Dtype>>,
    stated: [Option<f64>; 2],
    /// The kernel whose statements follow.
    open: Option<KernelDefinition>,
    /// A statement with an open bracket.
    started: String,
}

impl DefinitionReader {
    fn read(text: &str) -> Vec<KernelDefinition> {
        let mut reader = Self::default();
        for line in text.lines() {
            if reader.open.is_some() && (line.starts_with([' ', '\t']) || line.trim().is_empty()) {
                reader.statement(line.trim());
            } else {
                reader.close();
                reader.outside(line);
            }
        }
        reader.close();
        reader.all
    }

    fn close(&mut self) {
        let is_open = !std::mem::take(&mut self.started).is_empty();
        if let Some(mut kernel) = self.open.take() {
            kernel.is_whole &= !is_open;
            self.all.push(kernel);
        }
    }

    /// A line outside a kernel.
    fn outside(&mut self, line: &str) {
        if let Some((name, _)) = line.split_once(" = async_compile.triton(") {
            *self = Self { all: std::mem::take(&mut self.all), name: Some(name.trim().to_owned()), ..Self::default() };
        }
        if let Some((_, rest)) = line.split_once("'signature': {") {
            let types = rest.split('}').next().unwrap_or("").split(',').filter_map(|pair| pair.split_once(':'));
            self.signature = types.map(|(name, text)| (unquoted(name), pointer(&unquoted(text)))).collect();
        }
        for (at, key) in ["'kernel_num_gb': ", "'kernel_flop': "].into_iter().enumerate() {
            if let Some((_, rest)) = line.split_once(key) {
                self.stated[at] = rest.split([',', '}']).next().and_then(|number| number.trim().parse().ok());
            }
        }
        let function = line.strip_prefix("def ").and_then(|rest| rest.split_once('('));
        if let Some((name, rest)) = function.filter(|(name, _)| name.starts_with("triton_")) {
            self.define(name, rest.split(')').next().unwrap_or(""));
        }
    }

    fn define(&mut self, function: &str, parameters: &str) {
        let signature = std::mem::take(&mut self.signature);
        let names = parameters.split(',').filter(|parameter| !parameter.contains("constexpr"));
        let names = names.map(str::trim).filter(|name| !name.is_empty()).enumerate();
        let parameters = names.map(|(at, name)| {
            // Older signatures have places for names.
            let pointer = signature.get(name).or_else(|| signature.get(&at.to_string())).copied().flatten();
            KernelParameter { name: name.to_owned(), pointer }
        });
        let [gigabytes, flops] = std::mem::take(&mut self.stated);
        let whole = |number: f64| (number > 0.0 && number < 1e18).then_some(number.round() as i64);
        self.open = Some(KernelDefinition {
            name: self.name.take().unwrap_or_else(|| function.to_owned()),
            parameters: parameters.collect(),
            statements: Vec::new(),
            is_whole: true,
            stated_bytes: gigabytes.and_then(|number| whole(number * 1e9)),
            stated_flops: flops.and_then(whole),
        });
    }

    fn statement(&mut self, line: &str) {
        let Some(kernel) = &mut self.open else { return };
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        if kernel.statements.len() >= MAX_STATEMENTS || self.started.len() + line.len() > MAX_STATEMENT {
            kernel.is_whole = false;
            return;
        }
        self.started.push_str(line);
        if is_closed(&self.started) {
            kernel.statements.push(std::mem::take(&mut self.started));
        } else {
            self.started.push(' ');
        }
    }
}

fn is_closed(text: &str) -> bool {
    let count = |brackets: [char; 2]| text.matches(brackets).count();
    count(['(', '[']) <= count([')', ']'])
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['\'', '"']).to_owned()
}

/// The element type of a pointer, as Triton spells it.
fn pointer(text: &str) -> Option<Dtype> {
    let name = match text.strip_prefix('*')? {
        "i1" => "bool",
        "i8" => "int8",
        "u8" => "uint8",
        "i16" => "int16",
        "u16" => "uint16",
        "i32" => "int32",
        "u32" => "uint32",
        "i64" => "int64",
        "u64" => "uint64",
        "fp16" => "float16",
        "bf16" => "bfloat16",
        "fp32" => "float32",
        "fp64" => "float64",
        "fp8e4nv" => "float8_e4m3fn",
        "fp8e5" => "float8_e5m2",
        "fp8e4b8" => "float8_e4m3fnuz",
        "fp8e5b16" => "float8_e5m2fnuz",
        _ => return None,
    };
    named(name)
}
