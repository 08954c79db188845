//! Sums the time of modules (`nn.Module`): host time of calls, device time forward and backward.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::analysis::{Analysis, Run};
use super::options::Options;
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::id::StrId;
use crate::link::MODULE_PREFIX;
use crate::sort;
use crate::table::{Column, Table, int, put_name, text};
use crate::time::add_ns;

/// Modules with their costs.
pub(super) static MODULES: Analysis = Analysis {
    name: "modules",
    doc: "nn.Module calls: host time, and device time of their forward and backward work",
    options: &[],
    run: Run::Trace(|selection, _: &Options| {
        let calls = ModuleCalls::of(selection);
        let (rows, classes) = (calls.by_name(), calls.by_class());
        let has_device = rows.iter().any(|module| module.device_self_ns > 0);
        AnalysisResult::of(
            &TABLE,
            rows,
            "no nn.Module was recorded (with_stack=True or with_modules=True records them)",
        )
        .and(&CLASSES, classes)
        .drawn(Plot::of_own_time("module", has_device))
    }),
};

/// All calls of one module.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ModuleRow {
    /// Its name, such as `Linear_0`.
    pub module: String,
    /// How often it was called.
    pub count: u64,
    /// Host time of all calls together; a call inside another one of the module counts once.
    pub total_ns: i64,
    /// The part of it that is in no module inside.
    pub self_ns: i64,
    /// Device time of the recorded work for it and for the modules inside it.
    pub device_total_ns: i64,
    /// Device time of the work for it alone.
    pub device_self_ns: i64,
    /// The part of `device_total_ns` that was launched while the module was called: forward. `None`
    /// for modules that only kernels of graphs name, which do not tell it.
    pub forward_ns: Option<i64>,
    /// The other part, launched by operators of the backward pass.
    pub backward_ns: Option<i64>,
    /// Kernels, copies and fills for it and for the modules inside it.
    pub num_device_events: u64,
    /// Host time of the longest call; `None` without calls.
    pub max_ns: Option<i64>,
    /// Its id.
    pub longest_id: Option<u32>,
    /// Whether all device work of a call was lost, so that none of it is not zero.
    pub has_lost_work: bool,
}

impl ModuleRow {
    /// A device time, if it is known.
    fn known(&self, ns: i64) -> Option<i64> {
        Some(ns).filter(|ns| *ns > 0 || !self.has_lost_work)
    }
}

pub(crate) static TABLE: Table<Vec<ModuleRow>> =
    Table { name: "modules", doc: "all calls of one module", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<ModuleRow>>] = &[
    text("module", |rows, at, out| put_name(out, &rows[at].module)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("self_ns", |rows, at| Some(rows[at].self_ns)),
    int("device_total_ns", |rows, at| rows[at].known(rows[at].device_total_ns)),
    int("device_self_ns", |rows, at| rows[at].known(rows[at].device_self_ns)),
    int("forward_ns", |rows, at| rows[at].known(rows[at].forward_ns?)),
    int("backward_ns", |rows, at| rows[at].known(rows[at].backward_ns?)),
    int("num_device_events", |rows, at| Some(rows[at].num_device_events as i64)),
    int("max_ns", |rows, at| rows[at].max_ns),
    int("longest_id", |rows, at| rows[at].longest_id.map(i64::from)),
];

/// All calls of the modules of one class.
#[derive(Debug, Clone)]
pub(crate) struct ModuleClassRow {
    /// The name of the class is that of the module without its number.
    sum: ModuleRow,
    num_modules: i64,
}

pub(crate) static CLASSES: Table<Vec<ModuleClassRow>> = Table {
    name: "modules_by_class",
    doc: "all calls of the modules of one class, such as Linear",
    num_rows: Vec::len,
    columns: CLASS_COLUMNS,
};

const CLASS_COLUMNS: &[Column<Vec<ModuleClassRow>>] = &[
    text("class", |rows, at, out| put_name(out, &rows[at].sum.module)),
    int("num_modules", |rows, at| Some(rows[at].num_modules)),
    int("count", |rows, at| Some(rows[at].sum.count as i64)),
    int("total_ns", |rows, at| Some(rows[at].sum.total_ns)),
    int("self_ns", |rows, at| Some(rows[at].sum.self_ns)),
    int("device_total_ns", |rows, at| rows[at].sum.known(rows[at].sum.device_total_ns)),
    int("device_self_ns", |rows, at| rows[at].sum.known(rows[at].sum.device_self_ns)),
    int("forward_ns", |rows, at| rows[at].sum.known(rows[at].sum.forward_ns?)),
    int("backward_ns", |rows, at| rows[at].sum.known(rows[at].sum.backward_ns?)),
    int("num_device_events", |rows, at| Some(rows[at].sum.num_device_events as i64)),
    int("max_ns", |rows, at| rows[at].sum.max_ns),
    int("longest_id", |rows, at| rows[at].sum.longest_id.map(i64::from)),
];

/// The class of a module: `Linear_12` is a `Linear`.
pub(super) fn class_of(module: &str) -> &str {
    let class = module.trim_end_matches(|letter: char| letter.is_ascii_digit());
    class.strip_suffix('_').filter(|class| !class.is_empty() && class.len() + 1 < module.len()).unwrap_or(module)
}

/// The cost of a module's call, alone or with nested calls.
#[derive(Debug, Clone, Copy, Default)]
struct ModuleCost {
    /// Host time of the calls right inside it.
    inside_ns: i64,
    forward_ns: i64,
    backward_ns: i64,
    num_device_events: u64,
}

/// Costs by the row of the call.
type ModuleCosts = FxHashMap<u32, ModuleCost>;

/// Modules by name: the most device time of their own first, then the most host time.
///
/// Device work is for the innermost module around its launch or, when a backward operator launched
/// it, around the forward operator of that. It counts in that module's `device_self_ns`, and in
/// `device_total_ns` of the module and of all that the call is inside of.
///
/// Kernels of graphs that name a module themselves (`fqn`) count for the row of that path, and in
/// `device_total_ns` of the paths that it begins with.
pub fn modules(selection: &Selection<'_>) -> Vec<ModuleRow> {
    ModuleCalls::of(selection).by_name()
}

/// All calls of modules, with the costs of each.
struct ModuleCalls<'a> {
    selection: &'a Selection<'a>,
    /// Parents come before their children.
    calls: Vec<u32>,
    own: ModuleCosts,
    all: ModuleCosts,
}

impl<'a> ModuleCalls<'a> {
    fn of(selection: &'a Selection<'a>) -> Self {
        let linked = selection.linked;
        let is_module = |row: &u32| linked.trace.event_name(*row as usize).starts_with(MODULE_PREFIX);
        let calls: Vec<u32> = linked.links.nesting.order.iter().copied().filter(is_module).collect();
        let own = own(selection);
        let all = with_inner(selection, &calls, own.clone());
        Self { selection, calls, own, all }
    }

    fn by_name(&self) -> Vec<ModuleRow> {
        let mut rows: Vec<_> = self.rows(|name| name).into_values().collect();
        rows.extend(stated(self.selection));
        sort::by(&mut rows, most_first);
        rows
    }

    /// A class counts once where a module of it is inside another one.
    fn by_class(&self) -> Vec<ModuleClassRow> {
        let strings = &self.selection.linked.trace.strings;
        let mut first_of: FxHashMap<&str, StrId> = FxHashMap::default();
        let mut classes: FxHashMap<StrId, StrId> = FxHashMap::default();
        let mut num_modules: FxHashMap<StrId, i64> = FxHashMap::default();
        let mut is_counted = vec![false; strings.len()];
        for call in &self.calls {
            let name = self.name(*call);
            let class =
                *classes.entry(name).or_insert_with(|| *first_of.entry(class_of(strings.text(name))).or_insert(name));
            if self.is_selected(*call) && !std::mem::replace(&mut is_counted[name.index()], true) {
                *num_modules.entry(class).or_default() += 1;
            }
        }
        let rows = self.rows(|name| classes.get(&name).copied().unwrap_or(name));
        let row = |(class, sum): (StrId, ModuleRow)| {
            let module = class_of(&sum.module).to_owned();
            ModuleClassRow {
                sum: ModuleRow { module, ..sum },
                num_modules: num_modules.get(&class).copied().unwrap_or(1),
            }
        };
        let mut rows: Vec<_> = rows.into_iter().map(row).collect();
        sort::by(&mut rows, |a, b| most_first(&a.sum, &b.sum));
        rows
    }

    /// Whether a call or device work for it is selected.
    fn is_selected(&self, call: u32) -> bool {
        let has_work = || self.all.get(&call).is_some_and(|cost| cost.num_device_events > 0);
        self.selection.contains(call as usize) || has_work()
    }

    fn name(&self, call: u32) -> StrId {
        self.selection.linked.trace.events.name.at(call as usize)
    }

    /// The sums of calls with the same key.
    fn rows(&self, key: impl Fn(StrId) -> StrId) -> FxHashMap<StrId, ModuleRow> {
        let Self { selection, calls, own, all } = self;
        let linked = selection.linked;
        let keys = |is_counted: &dyn Fn(usize) -> bool| {
            let mut keys = vec![None; linked.trace.events.len()];
            let counted = calls.iter().filter(|call| is_counted(**call as usize));
            counted.for_each(|call| keys[*call as usize] = Some(key(self.name(*call))));
            linked.links.nesting.inside_same(&keys)
        };
        let (is_inside, is_inside_any) = (keys(&|call| selection.contains(call)), keys(&|_| true));
        let mut rows: FxHashMap<StrId, ModuleRow> = FxHashMap::default();
        for call in calls {
            let cost = |costs: &ModuleCosts| costs.get(call).copied().unwrap_or_default();
            let place = *call as usize;
            if self.is_selected(*call) {
                let row = rows.entry(key(self.name(*call))).or_default();
                row.has_lost_work |= linked.known_device_ns(place).is_none();
                row.add(selection, place, [cost(own), cost(all)], is_inside[place]);
                if !is_inside_any[place] {
                    row.add_inside(cost(all));
                }
            }
        }
        rows
    }
}

/// The most device time of their own first, then the most host time.
fn most_first(a: &ModuleRow, b: &ModuleRow) -> std::cmp::Ordering {
    (b.device_self_ns, b.total_ns).cmp(&(a.device_self_ns, a.total_ns)).then_with(|| a.module.cmp(&b.module))
}

/// The device work of each call that is for no module inside it.
fn own(selection: &Selection<'_>) -> ModuleCosts {
    let (links, events) = (&selection.linked.links, &selection.linked.trace.events);
    let mut costs = ModuleCosts::default();
    let has_marks = selection.linked.trace.has_marks();
    for row in selection.device_work() {
        if has_marks && selection.linked.trace.stated_module(row).is_some() {
            continue;
        }
        let Some(call) = selection.linked.frames().module.get(row) else { continue };
        let (start, end) = (events.start.at(call as usize), events.end(call as usize));
        let launch = links.launch.get(row).map(|launch| events.start.at(launch as usize));
        let is_forward = launch.is_some_and(|launch| start <= launch && launch < end);
        let cost = costs.entry(call).or_default();
        add_ns(if is_forward { &mut cost.forward_ns } else { &mut cost.backward_ns }, selection.dur_ns(row));
        cost.num_device_events += 1;
    }
    costs
}

/// Modules that kernels of graphs name themselves; no call of theirs is known.
fn stated(selection: &Selection<'_>) -> Vec<ModuleRow> {
    let trace = &selection.linked.trace;
    let mut paths: BTreeMap<String, ModuleRow> = BTreeMap::new();
    if !trace.has_marks() {
        return Vec::new();
    }
    for work in selection.device_work() {
        if let Some(module) = trace.stated_module(work) {
            let row = paths.entry(module).or_default();
            add_ns(&mut row.device_self_ns, selection.dur_ns(work));
            row.num_device_events += 1;
        }
    }
    let own: Vec<_> =
        paths.iter().map(|(path, row)| (path.clone(), row.device_self_ns, row.num_device_events)).collect();
    for (path, device_ns, num_events) in own {
        let outer = path.match_indices('.').map(|(end, _)| &path[..end]).chain([path.as_str()]);
        // Paths are short, but a hostile one may not be.
        for outer in outer.take(MAX_PATH) {
            if let Some(row) = paths.get_mut(outer) {
                add_ns(&mut row.device_total_ns, device_ns);
                row.num_device_events += if outer == path { 0 } else { num_events };
            }
        }
    }
    paths.into_iter().map(|(module, row)| ModuleRow { module, ..row }).collect()
}

/// Parts of a path that are looked at.
const MAX_PATH: usize = 64;

/// The costs of the calls with those of all calls inside them.
fn with_inner(selection: &Selection<'_>, calls: &[u32], mut costs: ModuleCosts) -> ModuleCosts {
    for call in calls.iter().rev() {
        let Some(parent) = selection.linked.frames().module.get(*call as usize) else { continue };
        let inner = costs.get(call).copied().unwrap_or_default();
        let outer = costs.entry(parent).or_default();
        add_ns(&mut outer.forward_ns, inner.forward_ns);
        add_ns(&mut outer.backward_ns, inner.backward_ns);
        outer.num_device_events += inner.num_device_events;
        if selection.contains(*call as usize) {
            add_ns(&mut outer.inside_ns, selection.dur_ns(*call as usize));
        }
    }
    costs
}

impl ModuleRow {
    /// Adds a call: its host time if selected, and its own device work. `is_inside` another call of
    /// the module, its time is part of that one's.
    fn add(&mut self, selection: &Selection<'_>, call: usize, [own, all]: [ModuleCost; 2], is_inside: bool) {
        let trace = &selection.linked.trace;
        if self.module.is_empty() {
            let name = trace.event_name(call);
            name.strip_prefix(MODULE_PREFIX).unwrap_or(name).clone_into(&mut self.module);
        }
        if selection.contains(call) {
            let dur = selection.dur_ns(call);
            if self.max_ns.is_none_or(|max_ns| dur > max_ns) {
                (self.max_ns, self.longest_id) = (Some(dur), Some(trace.events.position.at(call)));
            }
            self.count += 1;
            if !is_inside {
                add_ns(&mut self.total_ns, dur);
            }
            add_ns(&mut self.self_ns, dur.saturating_sub(all.inside_ns).max(0));
        }
        add_ns(&mut self.device_self_ns, own.forward_ns.saturating_add(own.backward_ns));
    }

    /// Adds the device work of a call and of all calls inside it.
    fn add_inside(&mut self, all: ModuleCost) {
        add_ns(self.forward_ns.get_or_insert(0), all.forward_ns);
        add_ns(self.backward_ns.get_or_insert(0), all.backward_ns);
        add_ns(&mut self.device_total_ns, all.forward_ns.saturating_add(all.backward_ns));
        self.num_device_events += all.num_device_events;
    }
}
