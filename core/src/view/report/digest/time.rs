//! Tells how the devices and the host spent their time.

use super::digest_block::DigestBlock;
use super::digest_contents::{DigestContents, DigestTable};
use super::digest_item::{DigestItem, ItemWeights};
use super::digest_value::DigestValue;
use crate::analyze::{KindRow, known_analysis, tables};
use crate::view::report::grid::{CellKind, ReportGrid, col};
use crate::view::report::part::{DEVICE, DeviceTimePart, PARTS, SPAN};
use crate::view::report::requests::{OPTIONS, PER_SELECTION};
use crate::view::report::source::{ReportResult, table, top_of};
use crate::view::report::waits::gaps;

const MAX_DEVICES: usize = 16;
const DEVICES: ItemWeights = ItemWeights { first: 1, step: 3 };
const KINDS: ItemWeights = ItemWeights { first: 40, step: 6 };
const PER_SELECTION_OPTION: &str = "--per selection";

const IDLE: ReportGrid = ReportGrid::of(
    "idle",
    &tables::IDLE,
    "Idle time of streams by cause",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("stream", "stream", CellKind::Key),
        col("category", "cause", CellKind::Word),
        col("total_ns", "total", CellKind::Time),
        col("share", "share of idle time", CellKind::Share),
        col("count", "gaps", CellKind::Count),
        col("max_ns", "longest", CellKind::Time),
    ],
);

const IDLE_CAUSES: DigestTable = DigestTable {
    grid: &IDLE,
    options: [OPTIONS, ""],
    by: Some(tables::IDLE.column("total_ns")),
    limit: 10,
    weights: ItemWeights { first: 16, step: 7 },
};

const GAPS: ReportGrid = ReportGrid::of(
    "idle",
    &tables::GAPS,
    "Longest gaps before computation",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("stream", "stream", CellKind::Key),
        col("dur_ns", "gap", CellKind::Time),
        col("start_ns", "start", CellKind::Range("dur_ns")),
        col("category", "cause", CellKind::Word),
        col("host_event_name", "host activity", CellKind::Name),
        col("host_ns", "host time", CellKind::Time),
        col("host_event_id", "host event", CellKind::Event),
        col("after_id", "next event", CellKind::Gap),
    ],
);

const LONGEST_GAPS: DigestTable = DigestTable {
    grid: &GAPS,
    options: [OPTIONS, ""],
    by: None,
    limit: 8,
    weights: ItemWeights { first: 20, step: 9 },
};

pub(super) fn blocks(contents: &DigestContents<'_>) -> ReportResult<Vec<DigestBlock>> {
    let mut blocks = vec![devices(contents)?, contents.rows(&IDLE_CAUSES)?.0, longest_gaps(contents)?];
    blocks.extend(kinds(contents));
    Ok(blocks)
}

/// One row per device: its parts add up to the span.
fn devices(contents: &DigestContents<'_>) -> ReportResult<DigestBlock> {
    let name = known_analysis("breakdown").name;
    let answer = contents.source.ask(name, PER_SELECTION)?;
    let rows = top_of(&answer, tables::BREAKDOWN.column("idle_ns"), MAX_DEVICES)?;
    let is_there =
        |part: &&DeviceTimePart| (0..rows.num_rows).any(|row| rows.int(part.column, row).is_some_and(|ns| ns > 0));
    let parts: Vec<_> = PARTS.iter().filter(is_there).collect();
    let item = |row: usize| {
        let span = rows.int(SPAN, row).unwrap_or_default();
        let known = |number: Option<i64>| number.map_or(DigestValue::Unknown, DigestValue::Id);
        let place = DigestItem::new(DEVICES.at(row))
            .maybe("rank", "rank", contents.source.is_job().then(|| known(rows.rank(row))))
            .with("device", "device", known(rows.int(DEVICE, row)))
            .with("span_ns", "span", DigestValue::Time(span));
        parts.iter().fold(place, |item, part| {
            let ns = rows.int(part.column, row);
            let value = ns.map_or(DigestValue::Unknown, |ns| DigestValue::TimeOf(ns, span));
            item.with(part.column.name, part.title, value)
        })
    };
    let items = (0..rows.num_rows).map(item).collect();
    let command = contents.commands.analysis(name, PER_SELECTION_OPTION);
    Ok(DigestBlock { num_all: rows.num_in_all, ..DigestBlock::table("Device time by device", command, items) })
}

fn longest_gaps(contents: &DigestContents<'_>) -> ReportResult<DigestBlock> {
    let answer = contents.source.ask(GAPS.analysis, OPTIONS)?;
    let rows = gaps(table(&answer, GAPS.table)?);
    let mut block = contents.block(&answer, &LONGEST_GAPS, &rows);
    block.items.truncate(LONGEST_GAPS.limit);
    Ok(block)
}

/// Time by event kind, of a single trace.
fn kinds(contents: &DigestContents<'_>) -> Option<DigestBlock> {
    let outline = contents.source.outline()?;
    let item = |(at, kind): (usize, &KindRow)| {
        DigestItem::new(KINDS.at(at))
            .with("kind", "kind", DigestValue::Words(kind.kind.to_owned()))
            .with("count", "events", DigestValue::Count(kind.count as i64))
            .with("total_ns", "total", DigestValue::Time(kind.total_ns))
            .with("self_ns", "without nested events", DigestValue::Time(kind.self_ns))
    };
    let items = outline.time_by_kind.iter().enumerate().map(item).collect();
    Some(DigestBlock::table("Time by event kind", contents.commands.other("summary", ""), items))
}
