//! Draws memory by address: segments one after another, on lines of equal length.

use maud::{Markup, html};

use super::axis::ChartUnit;
use super::bands::device_name;
use super::column::ChartColumn;
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, GREY, TextStyle, WIDTH, text_at};
use crate::table::TableRows;
use crate::view::svg::{Px, WHOLE, clipped};

/// The lines that the memory of a device takes, but for gaps between segments.
const NUM_LINES: f64 = 12.0;
const LINE: f64 = 16.0;
const PITCH: f64 = 20.0;
const HEAD: f64 = 20.0;
const MAX_PANELS: usize = 8;
/// The widest gap between two segments.
const GAP: f64 = 3.0;
/// The share of all lines that gaps may take.
const GAP_SHARE: f64 = 0.2;
/// Narrower pieces are drawn together.
const NARROWEST: f64 = 0.7;

/// States with their words and colours, in the order of the legend.
const STATES: [(&str, &str, ChartFill); 4] = [
    ("used", "in use", ChartFill { colour: COLOURS[0], opacity: Some(".85") }),
    ("waiting", "given back, waits for a stream", ChartFill { colour: COLOURS[1], opacity: Some(".85") }),
    ("split", "free beside memory in use", ChartFill { colour: COLOURS[5], opacity: Some(".6") }),
    ("cached", "in free segments", GREY),
];
/// Neighbours in use have different shades.
const SHADES: [&str; 2] = [".9", ".65"];

/// A row of the table.
struct LayoutPiece {
    bytes: f64,
    state: usize,
    label: String,
    pool: String,
    segment: String,
}

/// Draws the pieces of each device.
pub(super) fn draw(
    table: &dyn TableRows,
    bytes: usize,
    [state, label, pool]: [usize; 3],
    [segment, panel]: [usize; 2],
) -> ChartDrawing {
    let column = |at: usize| ChartColumn::of(table, at);
    let (bytes, state, label, pool) = (column(bytes), column(state), column(label), column(pool));
    let (segment, panel) = (column(segment), column(panel));
    let mut panels: Vec<(Option<i64>, Vec<LayoutPiece>)> = Vec::new();
    for row in 0..table.num_rows() {
        let word = state.words(row);
        let Some(state) = STATES.iter().position(|(name, ..)| *name == word) else { continue };
        let piece = LayoutPiece {
            bytes: bytes.number(row).unwrap_or_default().max(0.0),
            state,
            label: label.words(row),
            pool: pool.words(row),
            segment: segment.words(row),
        };
        let device = panel.integer(row);
        match panels.last_mut().filter(|(last, _)| *last == device) {
            Some((_, pieces)) => pieces.push(piece),
            None => panels.push((device, vec![piece])),
        }
    }
    let notes = panels.len().checked_sub(MAX_PANELS).filter(|left_out| *left_out > 0);
    let notes = notes.map(|left_out| format!("{left_out} further devices are left out")).into_iter().collect();
    panels.truncate(MAX_PANELS);
    let unit = bytes.unit;
    let mut sums = [0.0; STATES.len()];
    panels.iter().flat_map(|(_, pieces)| pieces).for_each(|piece| sums[piece.state] += piece.bytes);
    let words = |at: usize| format!("{}: {}", STATES[at].1, unit.words(sums[at]));
    let shown: Vec<usize> = (0..STATES.len()).filter(|at| sums[*at] > 0.0).collect();
    let mut body = Vec::new();
    let mut y = 0.0;
    for (device, pieces) in &panels {
        let (markup, height) = Tape::new(pieces, unit).draw(*device, pieces);
        body.push((y, markup));
        y += height;
    }
    ChartDrawing {
        subtitle: String::from("by address; each gap begins a segment"),
        desc: format!("{}.", shown.iter().map(|at| words(*at)).collect::<Vec<_>>().join("; ")),
        legend: shown.iter().map(|at| (words(*at), STATES[*at].2)).collect(),
        height: y,
        body: html! {
            @for (y, markup) in &body { g transform={ "translate(0 " (Px(*y)) ")" } { (markup) } }
        },
        notes,
    }
}

/// Pieces that are drawn as one.
#[derive(Default)]
struct PieceRun {
    num_pieces: usize,
    bytes: [f64; STATES.len()],
    label: String,
}

impl PieceRun {
    fn all_bytes(&self) -> f64 {
        self.bytes.iter().sum()
    }

    /// The state of most bytes.
    fn state(&self) -> usize {
        (0..STATES.len()).max_by(|a, b| self.bytes[*a].total_cmp(&self.bytes[*b])).unwrap_or(0)
    }

    fn tip(&self, unit: ChartUnit) -> String {
        let size = unit.words(self.all_bytes());
        if self.num_pieces > 1 {
            return format!("{} pieces: {size}", self.num_pieces);
        }
        let name = if self.label.is_empty() { STATES[self.state()].1.to_owned() } else { clipped(&self.label, WHOLE) };
        format!("{name}: {size}")
    }
}

/// Lays pieces on lines.
struct Tape {
    unit: ChartUnit,
    bytes_per_pixel: f64,
    gap: f64,
    x: f64,
    y: f64,
    num_drawn: usize,
    run: PieceRun,
    rects: Vec<Markup>,
}

impl Tape {
    fn new(pieces: &[LayoutPiece], unit: ChartUnit) -> Self {
        let total: f64 = pieces.iter().map(|piece| piece.bytes).sum();
        let num_segments = 1 + pieces.windows(2).filter(|pair| pair[0].segment != pair[1].segment).count();
        Self {
            unit,
            bytes_per_pixel: total.max(1.0) / (NUM_LINES * WIDTH),
            gap: GAP.min(GAP_SHARE * NUM_LINES * WIDTH / num_segments as f64),
            x: 0.0,
            y: HEAD,
            num_drawn: 0,
            run: PieceRun::default(),
            rects: Vec::new(),
        }
    }

    fn draw(mut self, device: Option<i64>, pieces: &[LayoutPiece]) -> (Markup, f64) {
        let has_pools = pieces.iter().any(|piece| piece.pool != pieces[0].pool);
        for (at, piece) in pieces.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| &pieces[before]);
            if before.is_none_or(|before| before.pool != piece.pool) {
                self.end_run();
                if has_pools {
                    self.name_pool(&piece.pool);
                }
            } else if before.is_some_and(|before| before.segment != piece.segment) {
                self.end_run();
                self.x += self.gap;
            }
            self.add(piece);
        }
        self.end_run();
        let height = self.y + PITCH + LINE;
        let rects = self.rects;
        (
            html! { (text_at((0.0, 12.0), TextStyle::PLAIN, &device_name(device), 300.0)) @for rect in &rects { (rect) } },
            height,
        )
    }

    fn name_pool(&mut self, pool: &str) {
        if self.x > 0.0 {
            (self.x, self.y) = (0.0, self.y + PITCH);
        }
        let words = if pool.is_empty() { String::from("pool not recorded") } else { format!("pool {pool}") };
        self.rects.push(text_at((0.0, self.y + 12.0), TextStyle::NOTE, &words, WIDTH));
        self.y += HEAD - 2.0;
    }

    fn add(&mut self, piece: &LayoutPiece) {
        if piece.bytes >= NARROWEST * self.bytes_per_pixel {
            self.end_run();
        }
        self.run.num_pieces += 1;
        self.run.bytes[piece.state] += piece.bytes;
        self.run.label.clone_from(&piece.label);
        if self.run.all_bytes() >= NARROWEST * self.bytes_per_pixel {
            self.end_run();
        }
    }

    /// Draws the pieces since the last call, on as many lines as they take.
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.num_pieces == 0 {
            return;
        }
        let (_, _, mut fill) = STATES[run.state()];
        if run.state() == 0 {
            fill.opacity = Some(SHADES[self.num_drawn % SHADES.len()]);
        }
        self.num_drawn += 1;
        let tip = run.tip(self.unit);
        let mut left = run.all_bytes() / self.bytes_per_pixel;
        while left > 0.0 {
            if self.x >= WIDTH - 0.1 {
                (self.x, self.y) = (0.0, self.y + PITCH);
            }
            let wide = left.min(WIDTH - self.x);
            self.rects.push(html! {
                rect x=(Px(self.x)) y=(Px(self.y)) width=(Px(wide.max(0.3))) height=(Px(LINE))
                    fill=(fill.colour) fill-opacity=[fill.opacity] { title { (tip) } }
            });
            self.x += wide;
            left -= wide;
        }
    }
}
