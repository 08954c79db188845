//! One row per layer and direction: rows, their imbalance over ranks, bytes and waits.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::exchange::{Exchange, ExchangePart, ExchangeRole};
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::add_ns;

/// A place in the model at which ranks exchange rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct ExpertPlace {
    pub(super) module: Option<String>,
    /// In the iteration, where no module is known.
    pub(super) position: Option<i64>,
    pub(super) role: Option<&'static str>,
    pub(super) group_name: Option<String>,
}

/// The exchanges of one place.
#[derive(Debug, Default)]
pub(super) struct ExpertLayer {
    pub(super) place: ExpertPlace,
    group_size: Option<i64>,
    num_calls: i64,
    is_uneven: bool,
    wait_ns: Option<i64>,
    unknown_rows: Option<&'static str>,
    lacks_ranks: bool,
    pub(super) of_rank: BTreeMap<ExpertRankKey, ExpertLoad>,
}

/// The rank, or the member of an unknown rank.
type ExpertRankKey = (Option<i64>, u32);

/// Sums of a rank over all calls of a place; `None` where one call lacks them.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpertLoad {
    pub(super) num_calls: i64,
    pub(super) rows: [Option<i64>; 2],
    pub(super) bytes: [Option<i64>; 2],
}

/// A place with its totals.
#[derive(Debug, Clone)]
pub(crate) struct ExpertRow {
    place: ExpertPlace,
    group_size: Option<i64>,
    num_calls: i64,
    num_ranks: i64,
    received_rows: Option<i64>,
    max_rows: Option<i64>,
    imbalance: Option<f64>,
    busiest_rank: Option<i64>,
    bytes: Option<i64>,
    wait_ns: Option<i64>,
    reason: Option<&'static str>,
}

pub(super) static TABLE: Table<Vec<ExpertRow>> = Table {
    name: "experts",
    doc: "the uneven all-to-alls of one module or position, in one direction",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<ExpertRow>>] = &[
    text("module", |rows, at, out| rows[at].place.module.as_ref().is_some_and(|name| put_name(out, name))),
    int("position", |rows, at| rows[at].place.position),
    text("direction", |rows, at, out| rows[at].place.role.is_some_and(|role| put_name(out, role))),
    text("group_name", |rows, at, out| rows[at].place.group_name.as_ref().is_some_and(|name| put_name(out, name))),
    int("group_size", |rows, at| rows[at].group_size),
    int("num_calls", |rows, at| Some(rows[at].num_calls)),
    int("num_ranks", |rows, at| Some(rows[at].num_ranks)),
    int("received_rows", |rows, at| rows[at].received_rows),
    int("max_rows", |rows, at| rows[at].max_rows),
    float("mean_rows", |rows, at| Some(rows[at].received_rows? as f64 / rows[at].num_ranks.max(1) as f64)),
    float("imbalance", |rows, at| rows[at].imbalance),
    int("busiest_rank", |rows, at| rows[at].busiest_rank),
    int("bytes", |rows, at| rows[at].bytes),
    int("wait_ns", |rows, at| rows[at].wait_ns),
    text("reason", |rows, at, out| rows[at].reason.is_some_and(|reason| put_name(out, reason))),
];

/// The places with an uneven exchange, in the order of their first calls.
pub(super) fn layers(exchanges: &[Exchange<'_>]) -> Vec<ExpertLayer> {
    let mut places: FxHashMap<ExpertPlace, usize> = FxHashMap::default();
    let mut layers: Vec<ExpertLayer> = Vec::new();
    for exchange in exchanges {
        let place = ExpertPlace::of(exchange);
        let at = *places.entry(place.clone()).or_insert(layers.len());
        if at == layers.len() {
            layers.push(ExpertLayer { place, ..ExpertLayer::default() });
        }
        layers[at].add(exchange);
    }
    layers.retain(|layer| layer.is_uneven);
    layers
}

impl ExpertPlace {
    fn of(exchange: &Exchange<'_>) -> Self {
        let meeting = &exchange.meeting;
        let module = meeting.any(|part| Some(part.linked.module_name(part.one.first_event()? as usize)?.into_owned()));
        Self {
            position: Some(exchange.position).filter(|_| module.is_none()),
            module,
            role: exchange.role.map(ExchangeRole::name),
            group_name: meeting.any(|part| part.one.group_name(part.linked).map(str::to_owned)),
        }
    }
}

impl ExpertLayer {
    fn add(&mut self, exchange: &Exchange<'_>) {
        let meeting = &exchange.meeting;
        self.group_size = self.group_size.or_else(|| meeting.any(|part| part.one.facts.group_size));
        self.num_calls += 1;
        self.is_uneven |= exchange.is_uneven();
        for wait_ns in meeting.waits_ns().into_iter().flatten() {
            add_ns(self.wait_ns.get_or_insert(0), wait_ns);
        }
        self.unknown_rows = self.unknown_rows.or_else(|| exchange.unknown_rows());
        self.lacks_ranks |= self.group_size.is_some_and(|size| size > exchange.parts.len() as i64);
        for part in &exchange.parts {
            let key = (part.rank, part.rank.map_or(part.member, |_| 0));
            self.of_rank.entry(key).or_default().add(part);
        }
    }

    /// Received rows over those of all ranks, by rank; bytes stand in for rows that are unknown.
    pub(super) fn shares(&self) -> Option<Vec<f64>> {
        let loads = self.loads()?;
        let total: f64 = loads.iter().map(|load| *load as f64).sum();
        (total > 0.0).then(|| loads.iter().map(|load| *load as f64 / total).collect())
    }

    fn loads(&self) -> Option<Vec<i64>> {
        self.of_each(|load| load.rows[1]).or_else(|| self.of_each(|load| load.bytes[1]))
    }

    fn of_each(&self, get: fn(&ExpertLoad) -> Option<i64>) -> Option<Vec<i64>> {
        self.of_rank.values().map(get).collect()
    }

    pub(super) fn into_row(self) -> ExpertRow {
        let (rows, loads) = (self.of_each(|load| load.rows[1]), self.loads().unwrap_or_default());
        let sum = |values: &Vec<i64>| values.iter().try_fold(0_i64, |total, value| total.checked_add(*value));
        let most = loads.iter().max().copied();
        let is_even = loads.iter().min().copied() == most;
        let busiest = self.of_rank.keys().zip(&loads).find(|(_, load)| Some(**load) == most).filter(|_| !is_even);
        let shares = self.shares();
        let most_share = shares.as_ref().and_then(|shares| shares.iter().copied().reduce(f64::max));
        ExpertRow {
            received_rows: rows.as_ref().and_then(sum),
            max_rows: rows.as_ref().and_then(|rows| rows.iter().max().copied()),
            // max / mean
            imbalance: most_share.map(|share| share * loads.len() as f64),
            busiest_rank: busiest.and_then(|((rank, _), _)| *rank),
            bytes: self.of_each(|load| load.bytes[1]).as_ref().and_then(sum),
            reason: self.unknown_rows.or(self.lacks_ranks.then_some("some ranks of the group have no trace")),
            num_ranks: self.of_rank.len() as i64,
            group_size: self.group_size,
            num_calls: self.num_calls,
            wait_ns: self.wait_ns,
            place: self.place,
        }
    }
}

impl Default for ExpertLoad {
    fn default() -> Self {
        Self { num_calls: 0, rows: [Some(0); 2], bytes: [Some(0); 2] }
    }
}

impl ExpertLoad {
    fn add(&mut self, part: &ExchangePart) {
        let sum = |total: Option<i64>, value: Option<i64>| total?.checked_add(value?);
        self.num_calls += 1;
        for side in 0..2 {
            self.rows[side] = sum(self.rows[side], part.rows[side]);
            self.bytes[side] = sum(self.bytes[side], part.bytes[side]);
        }
    }
}
