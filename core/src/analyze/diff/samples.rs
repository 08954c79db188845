//! Samples the time of each name per iteration, in both traces.

use rustc_hash::FxHashMap;

use super::change::{MeanRounding, NameChange};
use super::name_keys::NameKeys;
use super::side::DiffSide;
use super::step_times::StepTimes;
use crate::analyze::class::{WorkClass, classes};
use crate::id::TemplateId;
use crate::link::MODULE_PREFIX;
use crate::sort;
use crate::time::add_ns;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// One name in one trace.
#[derive(Debug, Clone, Default)]
pub(super) struct NameSample {
    /// In all iterations.
    pub(super) count: u64,
    /// By iteration, of all samples of the trace.
    pub(super) ns: StepTimes,
    /// Host time, where `ns` is another time.
    pub(super) host_ns: Option<StepTimes>,
    /// Id of the longest.
    pub(super) longest_id: Option<i64>,
    longest_ns: i64,
}

/// The contribution of one event.
#[derive(Debug, Clone, Copy)]
struct EventAmount {
    ns: i64,
    host_ns: Option<i64>,
}

/// A name, perhaps with the number of its shapes or of its class.
type NameKey = (u32, Option<u32>);

/// Names in both traces.
type NameGroups = FxHashMap<NameKey, [NameSample; 2]>;

/// Collects samples of both traces.
struct SampleCollector {
    groups: NameGroups,
    num_samples: [usize; 2],
}

impl SampleCollector {
    fn new(sides: &[DiffSide<'_>; 2]) -> Self {
        Self { groups: NameGroups::default(), num_samples: sides.each_ref().map(DiffSide::num_samples) }
    }

    fn sample(&mut self, side: usize, key: NameKey) -> &mut NameSample {
        let new = |num: usize| NameSample { ns: StepTimes::of(num), ..NameSample::default() };
        let num_samples = self.num_samples;
        &mut self.groups.entry(key).or_insert_with(|| num_samples.map(new))[side]
    }

    /// Counts an event of a sample; `amount` decides on the longest.
    fn count(
        &mut self,
        (side, of): (usize, &DiffSide<'_>),
        (at, row): (usize, usize),
        key: NameKey,
        amount: EventAmount,
    ) {
        let num_samples = self.num_samples[side];
        let sample = self.sample(side, key);
        sample.count += 1;
        if let Some(host_ns) = amount.host_ns {
            sample.host_ns.get_or_insert_with(|| StepTimes::of(num_samples)).add(at, host_ns);
        }
        if sample.longest_id.is_none() || amount.ns > sample.longest_ns {
            sample.longest_ns = amount.ns;
            sample.longest_id = Some(i64::from(of.selection.linked.trace.events.position.at(row)));
        }
    }

    /// Adds an event with its time.
    fn add(&mut self, (side, of): (usize, &DiffSide<'_>), (at, row): (usize, usize), key: NameKey, ns: i64) {
        self.count((side, of), (at, row), key, EventAmount { ns, host_ns: None });
        self.sample(side, key).ns.add(at, ns);
    }

    /// The largest change first; `label` adds what the second number of a key means.
    fn changes(self, keys: &NameKeys, label: impl Fn(&mut NameChange, u32)) -> Vec<NameChange> {
        let change = |((name, second), sides): (NameKey, [NameSample; 2])| {
            let overloads = keys.overloads(name).map(str::to_owned).collect();
            let name = keys.text(name).to_owned();
            let mut change = NameChange { name, shapes: String::new(), overloads, class: "", sides, ns: [0; 2] };
            if let Some(second) = second {
                label(&mut change, second);
            }
            (second, change)
        };
        let mut changes: Vec<_> = self.groups.into_iter().map(change).collect();
        // Means are rounded class by class, as the table of classes rounds them.
        sort::by(&mut changes, |(a, name_a), (b, name_b)| (a, &name_a.name).cmp(&(b, &name_b.name)));
        let mut rounding = self.num_samples.map(MeanRounding::over);
        let rounded = |(_, mut change): (Option<u32>, NameChange)| {
            change.ns = [0, 1].map(|side| rounding[side].next(change.sides[side].ns.sum()));
            change
        };
        let mut changes: Vec<_> = changes.into_iter().map(rounded).collect();
        sort::by(&mut changes, |a, b| {
            let size = |change: &NameChange| change.change_ns().unsigned_abs();
            size(b).cmp(&size(a)).then_with(|| (&a.name, &a.shapes).cmp(&(&b.name, &b.shapes)))
        });
        changes
    }
}

/// Operators by name.
pub(super) fn operators(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    of_operators(sides, |_, _| None).changes(keys, |_, _| {})
}

/// Operators by name, and device work outside of all operators: together all device work.
pub(super) fn operators_and_rest(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    let mut collected = of_operators(sides, |_, _| None);
    let mut keys = keys.clone();
    let rest = keys.of(OUTSIDE);
    for (side, of) in sides.iter().enumerate().filter(|_| sides[0].compared.device && sides[0].compared.operators) {
        for (at, row) in of.device_work().filter(|(_, row)| owner(of, *row).is_none()) {
            let sample = collected.sample(side, (rest, None));
            sample.count += 1;
            sample.ns.add(at, of.work_ns(row));
        }
    }
    collected.changes(&keys, |_, _| {})
}

/// Name of the row for device work that no operator launched.
const OUTSIDE: &str = "outside of operators";

/// Operators by name and shapes (`Input Dims`); none where a trace has no shapes.
pub(super) fn shapes(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    if !sides[0].compared.shapes {
        return Vec::new();
    }
    let mut shapes = NameKeys::default();
    let mut known: [FxHashMap<TemplateId, u32>; 2] = Default::default();
    let collected = of_operators(sides, |side, row| {
        let trace = &sides[side].selection.linked.trace;
        let number = known[side].entry(trace.events.template.at(row)).or_insert_with(|| {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::InputShapes, &mut text);
            shapes.of(&text)
        });
        Some(*number)
    });
    let mut changes = collected.changes(keys, |change, shape| shapes.text(shape).clone_into(&mut change.shapes));
    changes.retain(|change| !change.shapes.is_empty());
    changes
}

fn of_operators(sides: &[DiffSide<'_>; 2], mut shape: impl FnMut(usize, usize) -> Option<u32>) -> SampleCollector {
    let mut collected = SampleCollector::new(sides);
    for (side, of) in sides.iter().enumerate().filter(|_| sides[0].compared.operators) {
        let (linked, self_ns) = (of.selection.linked, of.selection.self_ns());
        let mut work_ns = vec![0; if of.compared.device { self_ns.len() } else { 0 }];
        let owned = of.device_work().filter(|_| of.compared.device);
        for (at, row, owner) in owned.filter_map(|(at, row)| Some((at, row, owner(of, row)?))) {
            let key = (of.key[owner], shape(side, owner));
            add_ns(&mut work_ns[owner], of.work_ns(row));
            collected.sample(side, key).ns.add(at, of.work_ns(row));
        }
        for row in of.selection.rows().filter(|row| linked.trace.events.kind[*row] == EventKind::Operator) {
            let (Some(at), key) = (of.sample(row), (of.key[row], shape(side, row))) else { continue };
            if of.compared.device {
                let amount = EventAmount { ns: work_ns[row], host_ns: Some(self_ns[row]) };
                collected.count((side, of), (at, row), key, amount);
            } else {
                collected.add((side, of), (at, row), key, self_ns[row]);
            }
        }
    }
    collected
}

/// The operator that launched device work.
fn owner(side: &DiffSide<'_>, row: usize) -> Option<usize> {
    let linked = side.selection.linked;
    let owner = linked.links.operator.get(row)? as usize;
    (linked.trace.events.kind[owner] == EventKind::Operator).then_some(owner)
}

/// Kernels, copies and fills by name and class.
pub(super) fn kernels(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    let mut collected = SampleCollector::new(sides);
    for (side, of) in sides.iter().enumerate().filter(|_| sides[0].compared.device) {
        let classes = classes(of.selection.linked);
        for (at, row) in of.device_work() {
            let key = (of.key[row], Some(classes[row] as u32));
            collected.add((side, of), (at, row), key, of.work_ns(row));
        }
    }
    collected.changes(keys, |change, class| change.class = WorkClass::ALL[class as usize].name())
}

/// Modules by name: the device work that is for each, or their calls if a trace lacks device work.
pub(super) fn modules(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    let mut collected = SampleCollector::new(sides);
    for (side, of) in sides.iter().enumerate().filter(|_| sides[0].compared.modules) {
        let (linked, selection) = (of.selection.linked, of.selection);
        if of.compared.device {
            for (at, row) in of.device_work() {
                let Some(module) = linked.frames().module.get(row) else { continue };
                collected.add((side, of), (at, row), (of.key[module as usize], None), of.work_ns(row));
            }
        } else {
            let mut keys = vec![None; of.key.len()];
            for row in selection.rows().filter(|row| linked.trace.event_name(*row).starts_with(MODULE_PREFIX)) {
                keys[row] = Some(of.key[row]);
            }
            // A call inside another one of its module is part of that one's time.
            let is_inside = linked.links.nesting.inside_same(&keys);
            for row in (0..keys.len()).filter(|row| keys[*row].is_some() && !is_inside[*row]) {
                let Some(at) = of.sample(row) else { continue };
                collected.add((side, of), (at, row), (of.key[row], None), selection.dur_ns(row));
            }
        }
    }
    let mut changes = collected.changes(keys, |_, _| {});
    for change in &mut changes {
        change.name = change.name.strip_prefix(MODULE_PREFIX).unwrap_or(&change.name).to_owned();
    }
    changes
}
