//! Loads the arguments of a snapshot's rows.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::SnapshotSection;
use super::decode::{column, encoded, fault};
use super::texts::expect_texts_of_fields;
use crate::error::Error;
use crate::id::{StrId, TemplateId};
use crate::strings::Strings;
use crate::trace::args::{Args, ArgsRef, ArgsTemplate, FieldValue, TemplateField};
use crate::trace::number_pool::NumberPool;
use crate::write::packed::{PackedNumbers, PackedReader};
use crate::write::snapshot::SavedArguments;

/// Arguments as they are in a trace, but for templates, which ask for its strings.
pub(super) struct LoadedArguments {
    templates: Vec<Vec<TemplateField>>,
    values: NumberPool,
    /// Of events, instants, flows, counters and metadata.
    rows: [ArgumentRows; 5],
}

/// The arguments of each row.
#[derive(Debug, Default)]
pub(super) struct ArgumentRows {
    pub(super) templates: Vec<TemplateId>,
    /// Where their numbers start in the pool.
    pub(super) values: Vec<u32>,
}

impl ArgumentRows {
    pub(super) fn len(&self) -> usize {
        self.templates.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ArgsRef> {
        let rows = self.templates.iter().zip(&self.values);
        rows.map(|(template, start)| ArgsRef { template: *template, start: *start })
    }
}

impl LoadedArguments {
    pub(super) fn from_section(section: SnapshotSection<'_>) -> Result<Self, Error> {
        let text = section.text()?;
        let SavedArguments { templates, rows, values } = encoded(&text)?;
        let mut streams = NumberStreams::new(&templates, values)?;
        let [events, instants, flows, counters, metadata] = rows.map(|row| streams.rows(&row));
        let rows = [events?, instants?, flows?, counters?, metadata?];
        // A template takes a byte here and hundreds in a trace: there are none without rows.
        if templates.len() > rows.iter().map(ArgumentRows::len).sum() {
            return Err(fault("more templates than rows"));
        }
        if !streams.by_key.iter().all(|stream| stream.differences.is_empty()) {
            return Err(fault("more numbers than the rows have"));
        }
        Ok(Self { templates, rows, values: streams.pool })
    }

    /// The arguments, and the rows that they are of.
    pub(super) fn into_args(self, strings: &Strings) -> Result<(Args, [ArgumentRows; 5]), Error> {
        expect_texts_of_fields(self.templates.iter().flatten(), strings)?;
        let templates = self.templates.into_iter().map(|fields| ArgsTemplate::new(fields, strings)).collect();
        Ok((Args::new(templates, self.values), self.rows))
    }
}

/// The numbers of each key that are still to be taken, and those that were.
struct NumberStreams<'a> {
    by_key: Vec<NumberStream<'a>>,
    /// The stream of each number of each template, one template after another.
    slots: Vec<u32>,
    /// Where the numbers of each template are in `slots`.
    ranges: Vec<Range<u32>>,
    pool: NumberPool,
    /// The numbers of the row at hand.
    numbers: Vec<i64>,
}

/// The numbers of a key that are still to be taken, as differences, and the last one.
struct NumberStream<'a> {
    differences: PackedReader<'a>,
    last: i64,
}

impl<'a> NumberStreams<'a> {
    fn new(templates: &[Vec<TemplateField>], values: Vec<(StrId, PackedNumbers<'a>)>) -> Result<Self, Error> {
        let mut places: FxHashMap<StrId, u32> = FxHashMap::default();
        let mut by_key = Vec::with_capacity(values.len());
        for (key, differences) in values {
            places.insert(key, by_key.len() as u32);
            let differences = differences.into_numbers().ok_or_else(|| fault("numbers in an unknown place"))?;
            by_key.push(NumberStream { differences, last: 0 });
        }
        let is_slot = |field: &&TemplateField| matches!(field.value, FieldValue::Slot(_));
        // A key without numbers has no stream; that is a fault once a row asks for one.
        let stream = |field: &TemplateField| places.get(&field.key).copied().unwrap_or(u32::MAX);
        let (mut slots, mut ranges) = (Vec::new(), Vec::with_capacity(templates.len()));
        for fields in templates {
            let start = slots.len();
            slots.extend(fields.iter().filter(is_slot).map(stream));
            if slots.len() - start > usize::from(u16::MAX) {
                return Err(fault("too many arguments"));
            }
            ranges.push(start as u32..slots.len() as u32);
        }
        Ok(Self { by_key, slots, ranges, pool: NumberPool::default(), numbers: Vec::new() })
    }

    fn rows(&mut self, templates: &PackedNumbers<'_>) -> Result<ArgumentRows, Error> {
        let templates = column(templates, TemplateId)?;
        let values = templates.iter().map(|template| self.take(*template)).collect::<Result<_, _>>()?;
        Ok(ArgumentRows { templates, values })
    }

    /// Takes the numbers of the next row, which are the next of each key's stream; where they start
    /// in the pool.
    fn take(&mut self, template: TemplateId) -> Result<u32, Error> {
        let range = self.ranges.get(template.index()).ok_or_else(|| fault("a missing template"))?;
        self.numbers.clear();
        for at in &self.slots[range.start as usize..range.end as usize] {
            let stream = self.by_key.get_mut(*at as usize).ok_or_else(|| fault("a key without numbers"))?;
            let difference = stream.differences.take_signed().ok_or_else(|| fault("too few numbers"))?;
            stream.last = stream.last.wrapping_add(difference);
            self.numbers.push(stream.last);
        }
        Ok(self.pool.add(self.numbers.iter().copied()))
    }
}
