//! Modules (`nn.Module`): host time of their calls, and device time forwards and backwards.

use rustc_hash::FxHashMap;

use super::analysis::{Analysis, Answer, Plot};
use super::options::Options;
use super::selection::Selection;
use crate::id::StrId;
use crate::link::MODULE_PREFIX;
use crate::sort;
use crate::table::{Column, Table, int, put_name, text};
use crate::time::add_ns;

/// Modules and what they cost.
pub(super) static MODULES: Analysis = Analysis {
    name: "modules",
    doc: "nn.Module calls: host time, and device time of their forward and backward work",
    options: &[],
    run: |selection, _: &Options| {
        Answer::of(&TABLE, modules(selection), "no nn.Module was recorded (with_stack or with_modules records them)")
            .drawn(Plot::Bars { label: "module", parts: &["device_self_ns"] })
    },
};

/// All calls of one module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModuleRow {
    /// Its name, such as `Linear_0`.
    pub module: String,
    /// How often it was called.
    pub count: u64,
    /// Host time of all calls together.
    pub total_ns: i64,
    /// The part of it that is in no module inside.
    pub self_ns: i64,
    /// Device time of the work for it and for the modules inside it.
    pub device_total_ns: i64,
    /// Device time of the work for it alone.
    pub device_self_ns: i64,
    /// The part of `device_total_ns` that was launched while the module was called: forward.
    pub forward_ns: i64,
    /// The other part, launched by operators of the backward pass.
    pub backward_ns: i64,
    /// Kernels, copies and fills for it and for the modules inside it.
    pub num_device_events: u64,
    /// Id of the longest call.
    pub longest_id: u32,
}

static TABLE: Table<Vec<ModuleRow>> =
    Table { name: "modules", doc: "all calls of one module", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<ModuleRow>>] = &[
    text("module", |rows, at, out| put_name(out, &rows[at].module)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("self_ns", |rows, at| Some(rows[at].self_ns)),
    int("device_total_ns", |rows, at| Some(rows[at].device_total_ns)),
    int("device_self_ns", |rows, at| Some(rows[at].device_self_ns)),
    int("forward_ns", |rows, at| Some(rows[at].forward_ns)),
    int("backward_ns", |rows, at| Some(rows[at].backward_ns)),
    int("num_device_events", |rows, at| Some(rows[at].num_device_events as i64)),
    int("longest_id", |rows, at| Some(i64::from(rows[at].longest_id))),
];

/// Device work for a call of a module.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    self_ns: i64,
    forward_ns: i64,
    backward_ns: i64,
    count: u64,
}

/// Modules by name: the most device time of their own first, then the most host time.
///
/// Device work is for the innermost module around its launch or, when a backward operator launched it, around the
/// forward operator of that. It counts in that module's `device_self_ns`, and in `device_total_ns` of the module and of
/// all that the call is inside of.
pub fn modules(selection: &Selection<'_>) -> Vec<ModuleRow> {
    let linked = selection.linked;
    let (trace, links) = (&linked.trace, &linked.links);
    let module_of = &linked.frames().module;
    let is_module = |row: usize| trace.event_name(row).starts_with(MODULE_PREFIX);
    let mut work: FxHashMap<u32, Work> = FxHashMap::default();
    for row in selection.device_work() {
        let Some(module) = module_of.get(row) else { continue };
        let (ns, of_call) = (selection.dur_ns(row), work.entry(module).or_default());
        let launch = links.launch.get(row).map(|launch| trace.events.start[launch as usize]);
        let call = module as usize;
        let is_forward =
            launch.is_some_and(|start| trace.events.start[call] <= start && start < trace.events.end(call));
        add_ns(if is_forward { &mut of_call.forward_ns } else { &mut of_call.backward_ns }, ns);
        add_ns(&mut of_call.self_ns, ns);
        of_call.count += 1;
    }
    // Parents come before their children in this order.
    let calls: Vec<u32> = links.nesting.order.iter().copied().filter(|row| is_module(*row as usize)).collect();
    let mut inside_ns: FxHashMap<u32, i64> = FxHashMap::default();
    let mut total = work.clone();
    for call in calls.iter().rev() {
        let Some(parent) = module_of.get(*call as usize) else { continue };
        let below = total.get(call).copied().unwrap_or_default();
        let above = total.entry(parent).or_default();
        add_ns(&mut above.forward_ns, below.forward_ns);
        add_ns(&mut above.backward_ns, below.backward_ns);
        above.count += below.count;
        if selection.contains(*call as usize) {
            add_ns(inside_ns.entry(parent).or_insert(0), selection.dur_ns(*call as usize));
        }
    }
    let mut rows: FxHashMap<StrId, (ModuleRow, i64)> = FxHashMap::default();
    for call in calls {
        let row = call as usize;
        let (own, all) = (work.get(&call), total.get(&call).copied().unwrap_or_default());
        if !selection.contains(row) && all.count == 0 {
            continue;
        }
        let name = trace.event_name(row);
        let new = || {
            let module = name.strip_prefix(MODULE_PREFIX).unwrap_or(name).to_owned();
            (ModuleRow { module, ..ModuleRow::default() }, -1)
        };
        let (of_name, longest) = rows.entry(trace.events.name[row]).or_insert_with(new);
        if selection.contains(row) {
            let dur = selection.dur_ns(row);
            of_name.count += 1;
            add_ns(&mut of_name.total_ns, dur);
            add_ns(&mut of_name.self_ns, (dur - inside_ns.get(&call).copied().unwrap_or(0)).max(0));
            if dur > *longest {
                (*longest, of_name.longest_id) = (dur, trace.events.position[row]);
            }
        }
        add_ns(&mut of_name.device_self_ns, own.map_or(0, |work| work.self_ns));
        add_ns(&mut of_name.forward_ns, all.forward_ns);
        add_ns(&mut of_name.backward_ns, all.backward_ns);
        add_ns(&mut of_name.device_total_ns, all.forward_ns.saturating_add(all.backward_ns));
        of_name.num_device_events += all.count;
    }
    let mut rows: Vec<_> = rows.into_values().map(|(row, _)| row).collect();
    sort::by(&mut rows, |a, b| {
        (b.device_self_ns, b.total_ns).cmp(&(a.device_self_ns, a.total_ns)).then_with(|| a.module.cmp(&b.module))
    });
    rows
}
