//! Draws where ranks are: a panel per division, a cell per rank, a colour per machine or group.

use maud::{Markup, html};

use super::column::ChartColumn;
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, TextStyle, WIDTH, text_at};
use crate::table::TableRows;
use crate::view::svg::Px;

const HEAD: f64 = 22.0;
const FOOT: f64 = 34.0;
const GAP: f64 = 24.0;
const NUM_BESIDE: usize = 3;
/// Ranks on a line, unless the machines have another number of ranks.
const ON_A_LINE: i64 = 16;
const MAX_LINES: i64 = 160;
const HIGHEST_LINE: f64 = 16.0;
const HEIGHT: f64 = 260.0;
const SHADES: [&str; 2] = [".85", ".5"];

/// A rank in a division.
struct PlacedRank {
    rank: i64,
    number: i64,
    name: String,
}

/// Draws the divisions, in the order of the table.
pub(super) fn draw(table: &dyn TableRows, [rank, division, number, name]: [usize; 4]) -> ChartDrawing {
    let [rank, division, number, name] = [rank, division, number, name].map(|at| ChartColumn::of(table, at));
    let mut panels: Vec<(String, Vec<PlacedRank>)> = Vec::new();
    for row in 0..table.num_rows() {
        let Some((rank, number)) = rank.integer(row).filter(|rank| *rank >= 0).zip(number.integer(row)) else {
            continue;
        };
        let (title, placed) = (division.words(row), PlacedRank { rank, number, name: name.words(row) });
        match panels.last_mut().filter(|(last, _)| *last == title) {
            Some((_, ranks)) => ranks.push(placed),
            None => panels.push((title, vec![placed])),
        }
    }
    let on_a_line = on_a_line(&panels);
    let wide = (WIDTH - GAP * (NUM_BESIDE - 1) as f64) / NUM_BESIDE as f64;
    let num_lines = panels
        .iter()
        .flat_map(|(_, ranks)| ranks)
        .map(|one| (one.rank / on_a_line).saturating_add(1))
        .max()
        .unwrap_or(0);
    let high = (HEIGHT / num_lines.clamp(1, MAX_LINES) as f64).min(HIGHEST_LINE);
    let pitch = HEAD + num_lines.min(MAX_LINES) as f64 * high + FOOT;
    let place = |at: usize| ((at % NUM_BESIDE) as f64 * (wide + GAP), (at / NUM_BESIDE) as f64 * pitch);
    let words: Vec<_> = panels.iter().map(|(title, ranks)| format!("{title}: {}", counted(ranks))).collect();
    ChartDrawing {
        subtitle: format!("{on_a_line} ranks on a line; equal colours side by side share a machine or a process group"),
        desc: format!("{}.", words.join("; ")),
        legend: Vec::new(),
        height: panels.len().div_ceil(NUM_BESIDE) as f64 * pitch,
        body: html! {
            @for (at, (title, ranks)) in panels.iter().enumerate() {
                @let (x, y) = place(at);
                g transform={ "translate(" (Px(x)) " " (Px(y)) ")" } {
                    (text_at((0.0, 14.0), TextStyle::PANEL, title, wide))
                    (text_at((0.0, pitch - FOOT + 15.0), TextStyle::NOTE, &counted(ranks), wide))
                    g transform={ "translate(0 " (Px(HEAD)) ")" } { (cells(ranks, on_a_line, wide / on_a_line as f64, high)) }
                }
            }
        },
        notes: left_out(&panels, on_a_line).into_iter().collect(),
    }
}

/// The ranks of a machine, if all machines have as many; so machines are lines.
fn on_a_line(panels: &[(String, Vec<PlacedRank>)]) -> i64 {
    let machines = panels.first().map_or(&[][..], |(_, ranks)| ranks);
    let num = machines.iter().filter(|one| one.number == 0).count() as i64;
    let is_even = num > 1 && machines.iter().all(|one| one.rank / num == one.number);
    let most = panels.iter().flat_map(|(_, ranks)| ranks).map(|one| one.rank.saturating_add(1)).max().unwrap_or(1);
    if is_even && num <= 2 * ON_A_LINE { num } else { ON_A_LINE.min(most) }
}

/// Says how many ranks the panels have no room for.
fn left_out(panels: &[(String, Vec<PlacedRank>)], on_a_line: i64) -> Option<String> {
    let is_far = |one: &&PlacedRank| one.rank / on_a_line >= MAX_LINES;
    let most = panels.iter().map(|(_, ranks)| ranks.iter().filter(is_far).count()).max().filter(|num| *num > 0)?;
    Some(format!("ranks from {} on are left out: {most}", MAX_LINES * on_a_line))
}

/// The number of sets, and of ranks in each.
fn counted(ranks: &[PlacedRank]) -> String {
    let mut sizes = std::collections::BTreeMap::new();
    ranks.iter().for_each(|one| *sizes.entry(one.number).or_insert(0) += 1);
    let (least, most) = (sizes.values().min().copied().unwrap_or(0), sizes.values().max().copied().unwrap_or(0));
    match (sizes.len(), least == most) {
        (1, _) => format!("1 of {most} ranks"),
        (num, true) => format!("{num} of {most} ranks"),
        (num, false) => format!("{num} of {least} to {most} ranks"),
    }
}

/// A rectangle for ranks of one set beside each other.
fn cells(ranks: &[PlacedRank], on_a_line: i64, wide: f64, high: f64) -> Markup {
    let line = |one: &PlacedRank| one.rank / on_a_line;
    let follows = |a: &PlacedRank, b: &PlacedRank| {
        a.number == b.number && line(a) == line(b) && a.rank.checked_add(1) == Some(b.rank)
    };
    let mut ranks: Vec<&PlacedRank> = ranks.iter().filter(|one| line(one) < MAX_LINES).collect();
    crate::sort::by_key(&mut ranks, |one| one.rank);
    html! {
        @for run in ranks.chunk_by(|a, b| follows(a, b)) {
            @let (first, num) = (run[0], run.len() as f64);
            @let fill = ChartFill::of(COLOURS[first.number as usize % COLOURS.len()]);
            rect x=(Px((first.rank % on_a_line) as f64 * wide)) y=(Px(line(first) as f64 * high))
                width=(Px(num * wide - 0.6)) height=(Px((high - 0.6).max(0.5))) fill=(fill.colour)
                fill-opacity=(SHADES[first.number as usize / COLOURS.len() % SHADES.len()]) {
                title { (tip(run)) }
            }
        }
    }
}

fn tip(run: &[&PlacedRank]) -> String {
    let ranks = match run {
        [one] => format!("rank {}", one.rank),
        _ => format!("ranks {} to {}", run[0].rank, run[run.len() - 1].rank),
    };
    format!("{ranks}: {}", run[0].name)
}
