//! Answers flame graphs: frames at their places, as columns.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::analysis::{analyzed, selection_of};
use super::chart::find;
use super::labels::label;
use super::request::AnalyzeRequest;
use super::response::{ColumnData, Response};
use super::screen::Screen;
use crate::analyze::{AnalysisResult, FLAMEGRAPH, Options, Plot, Selection, changed_weight, changes_of_flames};
use crate::error::Error;
use crate::table::{ColumnValues, TableRows};

/// The id of a frame without an event.
const NO_EVENT: u32 = u32::MAX;

/// The frames of one trace, the first by default.
pub(super) fn answer(screen: &Screen<'_>, request: &AnalyzeRequest) -> Result<Response, Error> {
    let part = screen.part(request.part)?;
    let request = AnalyzeRequest { part: Some(part.at as u32), ..request.clone() };
    let answer = analyzed(screen, &request)?;
    let coverage = |column: &str| FrameTable(&*answer.tables[1]).values(column);
    let number = |column: &str| coverage(column).and_then(|values| values.int(0));
    let frames = FrameTable(&*answer.tables[0]);
    let columns = vec![
        ("self", ColumnData::F64(frames.numbers("self_weight"))),
        ("count", ColumnData::F64(frames.numbers("count"))),
        ("id", ColumnData::U32(frames.ids("largest_id", part.first_id))),
        ("library", ColumnData::U8(frames.libraries())),
    ];
    let facts = json!({
        "part": part.at,
        "weight_name": coverage("weight").and_then(|values| values.text(0).map(str::to_owned)),
        "unattributed": number("unattributed_weight"),
        "num_unknown": number("num_unknown"),
    });
    Ok(frames.response(&answer, facts, columns))
}

/// The frames of part `against` and of the requested one, with the change of each from the former
/// to the latter.
pub(super) fn changes(screen: &Screen<'_>, request: &AnalyzeRequest, against: u32) -> Result<Response, Error> {
    let [before, after] = [screen.part(Some(against))?, screen.part(request.part)?];
    let options = Options::new(FLAMEGRAPH.options, request.options.clone())?;
    let selections = [before, after].map(|part| (part, selection_of(part, request)));
    let selection = |side: usize| Selection::of(&selections[side].0.part().linked, &selections[side].1);
    let compared = [&selection(0)?, &selection(1)?];
    let answer = changes_of_flames(compared, &options);
    let facts = json!({"part": after.at, "weight_name": changed_weight(compared, &options)});
    let frames = FrameTable(&*answer.tables[0]);
    let columns = vec![
        ("change", ColumnData::F64(frames.numbers("change_weight"))),
        ("id", ColumnData::U32(frames.ids("after_id", after.first_id))),
        ("before_id", ColumnData::U32(frames.ids("before_id", before.first_id))),
    ];
    Ok(frames.response(&answer, facts, columns))
}

/// A table with a row for each frame.
struct FrameTable<'a>(&'a dyn TableRows);

impl FrameTable<'_> {
    fn values(&self, column: &str) -> Option<ColumnValues> {
        Some(self.0.values(find(self.0, column)?, 0..self.0.num_rows()))
    }

    fn numbers(&self, column: &str) -> Vec<f64> {
        let values = self.values(column);
        let number = |row: usize| match &values {
            Some(ColumnValues::Int(values)) => values.get(row).map(|value| value as f64),
            Some(ColumnValues::Float(values)) => values.get(row),
            _ => None,
        };
        (0..self.0.num_rows()).map(|row| number(row).unwrap_or_default()).collect()
    }

    /// Ids as the screen has them.
    fn ids(&self, column: &str, first_id: u32) -> Vec<u32> {
        let values = self.values(column);
        let id = |row: usize| values.as_ref().and_then(|values| values.int(row)).and_then(|id| u32::try_from(id).ok());
        (0..self.0.num_rows()).map(|row| id(row).map_or(NO_EVENT, |id| first_id.saturating_add(id))).collect()
    }

    /// The number of each text among the different ones.
    fn texts(&self, column: &str) -> (Vec<u32>, Vec<String>) {
        let (values, mut texts) = (self.values(column), Vec::new());
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        let mut number = |row: usize| {
            let text = values.as_ref().and_then(|values| values.text(row)).unwrap_or_default();
            if let Some(number) = known.get(text) {
                return *number;
            }
            texts.push(text.to_owned());
            known.insert(text.to_owned(), texts.len() as u32 - 1);
            texts.len() as u32 - 1
        };
        ((0..self.0.num_rows()).map(&mut number).collect(), texts)
    }

    /// Whether each is a Python frame of an installed package.
    fn libraries(&self) -> Vec<u8> {
        let (numbers, origins) = self.texts("origin");
        let is_library = |number: &u32| matches!(origins[*number as usize].as_str(), "framework" | "package");
        numbers.iter().map(|number| u8::from(is_library(number))).collect()
    }

    /// The answer: facts, the columns of every flame graph, and those of its own.
    fn response(&self, answer: &AnalysisResult, mut facts: Value, own: Vec<(&'static str, ColumnData)>) -> Response {
        let (name, names) = self.texts("name");
        let (kind, kinds) = self.texts("kind");
        let (depths, weights) = (self.numbers("depth"), self.numbers("total_weight"));
        let outermost = depths.iter().zip(&weights).filter(|(depth, _)| **depth == 0.0);
        facts["reason"] = json!(answer.reason);
        facts["unit"] = match answer.plot {
            Some(Plot::Flame { unit, .. }) => json!(unit),
            _ => Value::Null,
        };
        facts["total"] = json!(outermost.map(|(_, weight)| weight).sum::<f64>());
        facts["kinds"] = json!(kinds);
        facts["labels"] = names.iter().map(|name| json!(label(name))).collect();
        facts["names"] = json!(names);
        let columns = [
            ("start", ColumnData::F64(self.numbers("start_weight"))),
            ("weight", ColumnData::F64(weights)),
            ("depth", ColumnData::U32(depths.into_iter().map(|depth| depth as u32).collect())),
            ("name", ColumnData::U32(name)),
            ("kind", ColumnData::U8(kind.into_iter().map(|kind| kind as u8).collect())),
        ];
        Response::of("flame", &facts).with_columns(columns.into_iter().chain(own).collect())
    }
}
