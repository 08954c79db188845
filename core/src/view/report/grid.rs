//! Writes tables in HTML that need no scripts; each column has one unit, so digits align.

use super::report_frame::ReportFrame;
use super::source::ReportSource;
use super::words::{count, decimal, percents, plural};
use crate::label::Label;
use crate::view::svg::{WHOLE, clipped, escape};

/// A column of a table on the page.
pub(super) struct GridColumn {
    /// The column of the analysis.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) kind: CellKind,
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    /// A name from the trace: its telling part first, and all of it.
    Name,
    /// A word of ours.
    Word,
    /// A key of rows, such as a device; hidden if it is the same in all rows.
    Key,
    Count,
    Number,
    Time,
    Bytes,
    /// A part of all, also as a bar.
    Share,
    Flag,
    /// An event to look at in the timeline.
    Event,
    /// A stretch of time to look at, as long as `dur_ns` or `span_ns`.
    Range,
}

pub(super) const fn col(name: &'static str, title: &'static str, kind: CellKind) -> GridColumn {
    GridColumn { name, title, kind }
}

/// A table of the page: its source, and its shown columns.
pub(super) struct ReportGrid {
    /// The analysis that answers it, for whoever wants all of it.
    pub(super) analysis: &'static str,
    /// Its options, a JSON object.
    pub(super) request: &'static str,
    pub(super) table: &'static str,
    pub(super) title: &'static str,
    pub(super) columns: &'static [GridColumn],
}

impl ReportGrid {
    /// The table with these rows; nothing of none.
    pub(super) fn html(&self, source: &ReportSource<'_>, frame: &ReportFrame) -> String {
        if frame.num_rows == 0 {
            return String::new();
        }
        let columns: Vec<_> =
            self.columns.iter().filter_map(|shown| RenderedColumn::of(source, frame, shown)).collect();
        let rows = if frame.num_in_all > frame.num_rows {
            let which = if frame.is_top { "the top" } else { "the first" };
            format!("{which} {} of {}", frame.num_rows, count(frame.num_in_all as i64))
        } else {
            plural(frame.num_rows, "row")
        };
        let mut out = format!(
            "<figure class=\"ks-table\" data-analysis=\"{}\" data-table=\"{}\" data-options=\"{}\">\
             <div class=\"ks-scroll\" tabindex=\"0\"><table><caption>{} <small>{rows}</small></caption><thead><tr>",
            self.analysis,
            self.table,
            escape(self.request),
            self.title
        );
        columns.iter().for_each(|column| column.head(&mut out));
        out.push_str("</tr></thead><tbody>");
        for row in 0..frame.num_rows {
            out.push_str("<tr>");
            columns.iter().for_each(|column| out.push_str(&column.cells[row]));
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div></figure>");
        out
    }
}

/// A column in HTML.
struct RenderedColumn {
    title: String,
    class: &'static str,
    cells: Vec<String>,
}

impl RenderedColumn {
    /// None where it says nothing.
    fn of(source: &ReportSource<'_>, frame: &ReportFrame, shown: &GridColumn) -> Option<Self> {
        let title = |unit: &str| {
            if unit.is_empty() { shown.title.to_owned() } else { format!("{} <i>{unit}</i>", shown.title) }
        };
        let rows = 0..frame.num_rows;
        let (name, kind) = (shown.name, shown.kind);
        let numbers: Vec<_> = rows.clone().map(|row| frame.number(name, row)).collect();
        match kind {
            CellKind::Name | CellKind::Word => {
                let is_name = kind == CellKind::Name;
                let texts: Vec<_> = rows.map(|row| frame.text(name, row).unwrap_or_default()).collect();
                let cell = |text: &&str| if is_name { named(text) } else { format!("<td>{}</td>", escape(text)) };
                let is_there = texts.iter().any(|text| !text.is_empty());
                let class = if is_name { "ks-name" } else { "" };
                is_there.then(|| Self { title: title(""), class, cells: texts.iter().map(cell).collect() })
            }
            CellKind::Flag => {
                let flags: Vec<_> = rows.map(|row| frame.flag(name, row).unwrap_or_default()).collect();
                let cell = |flag: &bool| format!("<td>{}</td>", if *flag { "yes" } else { "" });
                let is_there = flags.contains(&true);
                is_there.then(|| Self { title: title(""), class: "", cells: flags.iter().map(cell).collect() })
            }
            CellKind::Event | CellKind::Range => {
                let address = |row| match kind {
                    CellKind::Event => source.event(frame, row, frame.int(name, row)?),
                    _ => {
                        let dur_ns = frame.int("dur_ns", row).or(frame.int("span_ns", row))?;
                        source.range(frame, row, (frame.int(name, row)?, dur_ns))
                    }
                };
                let links: Vec<_> = rows.map(address).collect();
                let cells = links.iter().map(|link| linked(link.as_deref(), shown.title)).collect();
                links.iter().any(Option::is_some).then(|| Self { title: String::new(), class: "ks-go", cells })
            }
            CellKind::Share => {
                let is_there = numbers.iter().any(Option::is_some);
                let cells = numbers.iter().map(|share| shared(*share)).collect();
                is_there.then(|| Self { title: title("%"), class: "ks-number", cells })
            }
            CellKind::Key if rows.clone().any(|row| frame.text(name, row).is_some()) => {
                let texts: Vec<_> = rows.map(|row| frame.text(name, row).unwrap_or_default()).collect();
                let cells = texts.iter().map(|text| format!("<td>{}</td>", escape(text))).collect();
                let differ = texts.iter().any(|text| *text != texts[0]);
                differ.then(|| Self { title: title(""), class: "", cells })
            }
            CellKind::Key if numbers.iter().all(|number| *number == numbers[0]) => None,
            _ if kind != CellKind::Key && numbers.iter().all(|number| number.is_none_or(|number| number == 0.0)) => {
                None
            }
            _ => {
                let scale = NumberScale::of(kind, &numbers);
                let cells = numbers.iter().map(|number| numbered(number.map(|number| scale.words(number)))).collect();
                Some(Self { title: title(scale.unit), class: "ks-number", cells })
            }
        }
    }

    fn head(&self, out: &mut String) {
        out.push_str("<th scope=\"col\"");
        if !self.class.is_empty() {
            out.push_str(" class=\"");
            out.push_str(self.class);
            out.push('"');
        }
        // Longer headings would widen the columns.
        out.push_str(if self.class == "ks-go" { " aria-label=\"in the timeline\">" } else { ">" });
        out.push_str(&self.title);
        out.push_str("</th>");
    }
}

/// A name: the distinctive part first, then all of it as far as there is room.
pub(in crate::view) fn name(text: &str) -> String {
    let whole = clipped(text, WHOLE);
    let telling = clipped(&Label::of(text).telling, WHOLE);
    let (whole_html, telling_html) = (escape(&whole), escape(&telling));
    if telling == whole {
        return format!("<span title=\"{whole_html}\"><b>{whole_html}</b></span>");
    }
    format!("<span title=\"{whole_html}\"><b>{telling_html}</b> <small>{whole_html}</small></span>")
}

fn named(text: &str) -> String {
    format!("<td class=\"ks-name\">{}</td>", name(text))
}

fn linked(address: Option<&str>, what: &str) -> String {
    address.map_or_else(
        || String::from("<td></td>"),
        |address| format!("<td><a href=\"{address}\" title=\"{what}: show in the timeline\">show</a></td>"),
    )
}

fn numbered(words: Option<String>) -> String {
    format!("<td class=\"ks-number\">{}</td>", words.unwrap_or_default())
}

fn shared(share: Option<f64>) -> String {
    let Some(share) = share else { return numbered(None) };
    let percent = escape(&percents(share));
    format!("<td class=\"ks-number ks-share\">{}{percent}</td>", bar(share))
}

/// A bar as long as a part of one.
pub(super) fn bar(share: f64) -> String {
    let long = share.clamp(0.0, 1.0) * 100.0;
    format!(
        "<svg class=\"ks-bar\" aria-hidden=\"true\"><rect width=\"{long:.1}%\" height=\"100%\" fill=\"currentColor\"/></svg>"
    )
}

/// The divisor of a column's numbers, and their number of decimals.
struct NumberScale {
    unit: &'static str,
    size: f64,
    decimals: usize,
}

impl NumberScale {
    /// The unit that the largest number is told in.
    fn of(kind: CellKind, numbers: &[Option<f64>]) -> Self {
        let largest = numbers.iter().flatten().fold(0.0_f64, |largest, number| largest.max(number.abs()));
        let found = |units: &[(f64, f64, &'static str)]| {
            units.iter().find(|(from, ..)| largest >= *from).map_or((1.0, ""), |(_, size, unit)| (*size, *unit))
        };
        let (size, unit) = match kind {
            CellKind::Time => found(&[(1e11, 1e9, "s"), (1e6, 1e6, "ms"), (1e3, 1e3, "µs"), (0.0, 1.0, "ns")]),
            CellKind::Bytes => found(&[
                (1_073_741_824.0, 1_073_741_824.0, "GiB"),
                (1_048_576.0, 1_048_576.0, "MiB"),
                (1_024.0, 1_024.0, "KiB"),
                (0.0, 1.0, "B"),
            ]),
            _ => (1.0, ""),
        };
        let is_whole = |number: &f64| (number / size).fract() == 0.0;
        let decimals = match kind {
            _ if numbers.iter().flatten().all(is_whole) => 0,
            CellKind::Time => 3,
            CellKind::Number if largest < 10.0 => 3,
            CellKind::Number => 1,
            _ => 2,
        };
        Self { unit, size, decimals }
    }

    fn words(&self, number: f64) -> String {
        decimal(number / self.size, self.decimals)
    }
}
