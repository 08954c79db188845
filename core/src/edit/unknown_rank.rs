//! Keeps device events of an unknown rank from the launches of the rank that has them.

use rustc_hash::FxHashMap;

use crate::id::TemplateId;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::args::{ArgsTemplate, FieldValue, TemplateField};

/// The argument of the process that launched a device event.
const PROCESS_KEY: &str = "process id";
/// No process has this number.
const NO_PROCESS: &str = "-1";

/// States for each of these device events that no process of the trace launched it. Otherwise its
/// `correlation`, which is that of another rank, perhaps, would name a launch.
pub(super) fn disown(part: &mut Trace, rows: &[usize]) {
    let mut disowned: FxHashMap<TemplateId, TemplateId> = FxHashMap::default();
    for row in rows {
        let args = part.events.args(*row);
        if part.args.template(args).has(ArgKey::ProcessId) {
            continue;
        }
        let template = *disowned.entry(args.template).or_insert_with(|| {
            let mut fields = part.args.template(args).fields().to_vec();
            let [key, value] = [PROCESS_KEY, NO_PROCESS].map(|text| part.strings.intern(text));
            fields.push(TemplateField { key, value: FieldValue::Json(value), is_outer: false });
            part.args.push(ArgsTemplate::new(fields, &part.strings))
        });
        part.events.template.set(*row, template);
    }
}
