//! Lists the hits of a search in tables: by name, and each of them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::json;

use super::analysis::tables;
use super::overview::track_name;
use super::request::TableView;
use super::response::Response;
use super::screen::Screen;
use super::search::SearchHits;
use super::session_trace::TraceView;
use super::term::{SearchTerm, terms};
use crate::analyze::AnalysisResult;
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Column, Table, int, put_name, text};
use crate::time::{Ts, add_ns, sum_ns};

/// Tables of all shown hits, and their number, sum and maximum.
pub(super) fn answer(screen: &Screen<'_>, text: &str, view: &TableView) -> Response {
    let terms = terms(text);
    let parts: Vec<_> = screen.parts.iter().map(|part| PartHits::of(*part, &terms)).collect();
    let durs = || parts.iter().flat_map(PartHits::durs);
    let (count, total, max) = (durs().count(), sum_ns(durs()), durs().max());
    let ranks: Vec<_> = screen.parts.iter().map(|part| part.rank).collect();
    let mut answers: Vec<_> = parts.into_iter().map(PartHits::into_answer).collect();
    let owner = screen.parts.first().copied().filter(|_| ranks.len() == 1);
    let answer = if owner.is_some() { answers.swap_remove(0) } else { AnalysisResult::stacked(&ranks, &answers) };
    let data = json!({
        "count": count,
        "total_ns": total,
        "mean_ns": total.checked_div(count as i64),
        "max_ns": max,
        "tables": tables(&answer, (screen, owner), view),
    });
    Response::of("hits", &data)
}

static BY_NAME: Table<Vec<NameRow>> =
    Table { name: "hits_by_name", doc: "all hits of one name", num_rows: Vec::len, columns: NAME_COLUMNS };

const NAME_COLUMNS: &[Column<Vec<NameRow>>] = &[
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    int("count", |rows, at| Some(rows[at].count)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("mean_ns", |rows, at| rows[at].total_ns.checked_div(rows[at].count)),
    int("max_ns", |rows, at| Some(rows[at].max_ns)),
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    int("longest_id", |rows, at| Some(i64::from(rows[at].longest_id))),
];

static ALL: Table<PartHits> = Table {
    name: "hits",
    doc: "each hit, in the order of the file",
    num_rows: |hits| hits.rows.len(),
    columns: COLUMNS,
};

const COLUMNS: &[Column<PartHits>] = &[
    text("name", |hits, at, out| put_name(out, hits.linked.trace.event_name(hits.rows[at]))),
    int("dur_ns", |hits, at| Some(hits.dur(at))),
    int("start_ns", |hits, at| Some(hits.linked.trace.events.start.at(hits.rows[at]).since(hits.zero).0)),
    text("track", |hits, at, out| put_name(out, &hits.track_name(at))),
    text("kind", |hits, at, out| put_name(out, hits.kinds[at])),
    int("id", |hits, at| Some(i64::from(hits.id(at)))),
];

/// The hits of a part.
struct PartHits {
    linked: Arc<LinkedTrace>,
    /// Start of the screen, by the part's clock.
    zero: Ts,
    rows: Vec<usize>,
    /// The shown kind of each.
    kinds: Vec<&'static str>,
}

impl PartHits {
    fn of(part: TraceView<'_>, terms: &[SearchTerm]) -> Self {
        let hits = SearchHits::of(part, terms);
        let is_hit = |row: &usize| hits.has(*row) && part.is_shown(*row);
        let rows: Vec<_> = (0..part.linked.trace.events.len()).filter(is_hit).collect();
        let kinds = rows.iter().map(|row| part.shown_kind(*row).name()).collect();
        Self { linked: Arc::clone(&part.linked), zero: part.zero, rows, kinds }
    }

    fn dur(&self, at: usize) -> i64 {
        self.linked.trace.events.dur.at(self.rows[at]).0
    }

    fn durs(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.rows.len()).map(|at| self.dur(at))
    }

    fn id(&self, at: usize) -> u32 {
        self.linked.trace.events.position.at(self.rows[at])
    }

    fn track_name(&self, at: usize) -> String {
        let trace = &self.linked.trace;
        track_name(trace, trace.track(trace.events.track.at(self.rows[at])))
    }

    fn into_answer(self) -> AnalysisResult {
        let mut answer = AnalysisResult::of(&BY_NAME, self.by_name(), "no event matches");
        answer.tables.push(ALL.of(&Arc::new(self)));
        answer
    }

    /// The longest total first.
    fn by_name(&self) -> Vec<NameRow> {
        let mut places: FxHashMap<(StrId, &str), usize> = FxHashMap::default();
        let mut rows: Vec<NameRow> = Vec::new();
        for at in 0..self.rows.len() {
            let (name, dur, id) = (self.linked.trace.events.name.at(self.rows[at]), self.dur(at), self.id(at));
            let place = *places.entry((name, self.kinds[at])).or_insert_with(|| {
                let text = self.linked.trace.strings.text(name).to_owned();
                rows.push(NameRow::of(text, self.kinds[at]));
                rows.len() - 1
            });
            rows[place].add(dur, id);
        }
        sort::by_key(&mut rows, |row| std::cmp::Reverse(row.total_ns));
        rows
    }
}

/// Hits of one name and kind.
struct NameRow {
    name: String,
    kind: &'static str,
    count: i64,
    total_ns: i64,
    max_ns: i64,
    longest_id: u32,
}

impl NameRow {
    fn of(name: String, kind: &'static str) -> Self {
        Self { name, kind, count: 0, total_ns: 0, max_ns: i64::MIN, longest_id: 0 }
    }

    fn add(&mut self, dur: i64, id: u32) {
        self.count += 1;
        add_ns(&mut self.total_ns, dur);
        if dur > self.max_ns {
            (self.max_ns, self.longest_id) = (dur, id);
        }
    }
}
