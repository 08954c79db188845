//! Traces compiled kernels back to their source, to nodes of FX graphs, and to lines of Python.
//!
//! Inductor writes the facts into its sources, as comments, and into JSON files. Paths in a trace
//! or in a source are only compared and shown, never opened.

mod code;
mod fact;
mod mappings;
mod row;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::link::LinkedTrace;
pub use crate::link::SourceFile;
use crate::time::add_ns;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use code::SourceCode;
use fact::CompiledKernel;
use row::rows_of;
pub use row::{KERNEL_SOURCES, KernelSourceRow};

/// Compiled kernels by name and source file, with their nodes and lines as far as files tell them.
///
/// A kernel is compiled if it or its operator has `kernel_file` or `kernel_hash`, or if its name
/// starts with `triton_`.
pub fn kernel_sources(linked: &LinkedTrace, files: &[SourceFile]) -> Vec<KernelSourceRow> {
    let kernels = compiled_kernels(linked);
    let wanted = kernels.keys().map(|(name, file)| (name.as_str(), file.as_deref().map(SourceFile::base_name)));
    let code = SourceCode::of(wanted, files);
    kernels.iter().flat_map(|((name, file), kernel)| rows_of(name, file.as_deref(), kernel, &code)).collect()
}

/// The file names that the sources of a trace's kernels have, without folders.
pub fn kernel_file_names(linked: &LinkedTrace) -> Vec<String> {
    let names =
        compiled_kernels(linked).into_keys().filter_map(|(_, file)| Some(SourceFile::base_name(&file?).to_owned()));
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn compiled_kernels(linked: &LinkedTrace) -> BTreeMap<(String, Option<String>), CompiledKernel> {
    let trace = &linked.trace;
    let text = |row: usize, key: ArgKey| {
        let mut out = String::new();
        trace.args.write_text(&trace.strings, trace.events.args(row), key, &mut out);
        Some(out).filter(|text| !text.is_empty() && text != "null")
    };
    // An operator of Triton has the name of its kernel.
    let mut stated: FxHashMap<u32, (Option<String>, Option<String>)> = FxHashMap::default();
    let mut of_row = |row: usize| {
        stated
            .entry(row as u32)
            .or_insert_with(|| (text(row, ArgKey::KernelFile), text(row, ArgKey::KernelHash)))
            .clone()
    };
    let mut kernels: BTreeMap<(String, Option<String>), CompiledKernel> = BTreeMap::new();
    for row in trace.events.rows_of(|kind| kind == EventKind::Kernel) {
        let own = of_row(row);
        let operator = linked.links.operator.get(row).filter(|operator| {
            own == (None, None) && trace.events.name.at(*operator as usize) == trace.events.name.at(row)
        });
        let (file, hash) = operator.map_or(own, |operator| of_row(operator as usize));
        let name = trace.event_name(row);
        if file.is_none() && hash.is_none() && !name.starts_with("triton_") {
            continue;
        }
        let kernel = kernels.entry((name.to_owned(), file)).or_default();
        kernel.hash = kernel.hash.take().or(hash);
        kernel.count += 1;
        add_ns(&mut kernel.device_ns, trace.events.dur.at(row).0);
    }
    kernels
}
