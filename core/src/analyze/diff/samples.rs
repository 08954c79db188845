//! Samples the time of each name per iteration, in both traces.

use rustc_hash::FxHashMap;

use super::change::NameChange;
use super::name_keys::NameKeys;
use super::side::DiffSide;
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
    /// By iteration; its length is that of all samples of the trace.
    pub(super) ns: Vec<i64>,
    /// Host time, where `ns` is another time.
    pub(super) host_ns: Option<Vec<i64>>,
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

/// Names, each perhaps with shapes, in both traces.
type NameGroups = FxHashMap<(u32, Option<u32>), [NameSample; 2]>;

/// Collects samples of both traces; `measure` gives the name and amount of an event, if any.
struct SampleCollector {
    groups: NameGroups,
    num_samples: [usize; 2],
}

impl SampleCollector {
    fn new(sides: &[DiffSide<'_>; 2]) -> Self {
        Self { groups: NameGroups::default(), num_samples: sides.each_ref().map(DiffSide::num_samples) }
    }

    fn add(&mut self, (side, of): (usize, &DiffSide<'_>), row: usize, key: (u32, Option<u32>), amount: EventAmount) {
        let Some(at) = of.sample(row) else { return };
        let new = |num: usize| NameSample { ns: vec![0; num], ..NameSample::default() };
        let num_samples = self.num_samples;
        let samples = self.groups.entry(key).or_insert_with(|| num_samples.map(new));
        let sample = &mut samples[side];
        sample.count += 1;
        add_ns(&mut sample.ns[at], amount.ns);
        if let Some(host_ns) = amount.host_ns {
            add_ns(&mut sample.host_ns.get_or_insert_with(|| vec![0; num_samples[side]])[at], host_ns);
        }
        if sample.longest_id.is_none() || amount.ns > sample.longest_ns {
            sample.longest_ns = amount.ns;
            sample.longest_id = Some(i64::from(of.selection.linked.trace.events.position[row]));
        }
    }

    /// The largest change first.
    fn changes(self, keys: &NameKeys, shapes: &NameKeys) -> Vec<NameChange> {
        let change = |((name, shape), sides): ((u32, Option<u32>), [NameSample; 2])| NameChange {
            name: keys.text(name).to_owned(),
            overloads: keys.overloads(name).map(str::to_owned).collect(),
            shapes: shape.map(|shape| shapes.text(shape).to_owned()).unwrap_or_default(),
            sides,
        };
        let mut changes: Vec<_> = self.groups.into_iter().map(change).collect();
        sort::by(&mut changes, |a, b| {
            let size = |change: &NameChange| change.change_ns().unsigned_abs();
            size(b).cmp(&size(a)).then_with(|| (&a.name, &a.shapes).cmp(&(&b.name, &b.shapes)))
        });
        changes
    }
}

/// Operators by name.
pub(super) fn operators(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    of_operators(sides, |_, _| None).changes(keys, &NameKeys::default())
}

/// Operators by name and shapes (`Input Dims`); none where no shapes were recorded.
pub(super) fn shapes(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    let mut shapes = NameKeys::default();
    let mut known: [FxHashMap<TemplateId, u32>; 2] = Default::default();
    let collected = of_operators(sides, |side, row| {
        let trace = &sides[side].selection.linked.trace;
        let number = known[side].entry(trace.events.template[row]).or_insert_with(|| {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::InputShapes, &mut text);
            shapes.of(&text)
        });
        Some(*number)
    });
    let mut changes = collected.changes(keys, &shapes);
    changes.retain(|change| !change.shapes.is_empty());
    changes
}

fn of_operators(sides: &[DiffSide<'_>; 2], mut shape: impl FnMut(usize, usize) -> Option<u32>) -> SampleCollector {
    let has_device = sides.iter().any(DiffSide::has_device);
    let mut collected = SampleCollector::new(sides);
    for (side, of) in sides.iter().enumerate() {
        let (linked, self_ns) = (of.selection.linked, of.selection.self_ns());
        for row in of.selection.rows().filter(|row| linked.trace.events.kind[*row] == EventKind::Operator) {
            let amount = if has_device {
                EventAmount { ns: linked.device_time().self_ns[row], host_ns: Some(self_ns[row]) }
            } else {
                EventAmount { ns: self_ns[row], host_ns: None }
            };
            collected.add((side, of), row, (of.key[row], shape(side, row)), amount);
        }
    }
    collected
}

/// Kernels, copies and fills by name.
pub(super) fn kernels(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    let mut collected = SampleCollector::new(sides);
    for (side, of) in sides.iter().enumerate() {
        for row in of.selection.device_work() {
            let amount = EventAmount { ns: of.selection.dur_ns(row), host_ns: None };
            collected.add((side, of), row, (of.key[row], None), amount);
        }
    }
    collected.changes(keys, &NameKeys::default())
}

/// Modules by name: the device work that is for each, or their calls where there is no device.
pub(super) fn modules(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<NameChange> {
    let has_device = sides.iter().any(DiffSide::has_device);
    let mut collected = SampleCollector::new(sides);
    for (side, of) in sides.iter().enumerate() {
        let (linked, selection) = (of.selection.linked, of.selection);
        if has_device {
            for row in selection.device_work() {
                let Some(module) = linked.frames().module.get(row) else { continue };
                let amount = EventAmount { ns: selection.dur_ns(row), host_ns: None };
                collected.add((side, of), row, (of.key[module as usize], None), amount);
            }
        } else {
            let mut keys = vec![None; of.key.len()];
            for row in selection.rows().filter(|row| linked.trace.event_name(*row).starts_with(MODULE_PREFIX)) {
                keys[row] = Some(of.key[row]);
            }
            // A call inside another one of its module is part of that one's time.
            let is_inside = linked.links.nesting.inside_same(&keys);
            for row in (0..keys.len()).filter(|row| keys[*row].is_some() && !is_inside[*row]) {
                let amount = EventAmount { ns: selection.dur_ns(row), host_ns: None };
                collected.add((side, of), row, (of.key[row], None), amount);
            }
        }
    }
    let mut changes = collected.changes(keys, &NameKeys::default());
    for change in &mut changes {
        change.name = change.name.strip_prefix(MODULE_PREFIX).unwrap_or(&change.name).to_owned();
    }
    changes
}
