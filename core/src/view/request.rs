//! Parses requests from JSON.

use serde_json::{Map, Value};

use super::align::TimeAlignment;
#[cfg(feature = "digest")]
use super::digest_form::DigestForm;
use super::fields::{RequestField, RequestFields, unexpected};
use crate::error::{Error, ErrorKind};

/// A request, how times are to be laid over each other, and whether functions of Python are shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedRequest {
    pub(super) align: TimeAlignment,
    pub(super) has_frames: bool,
    pub(super) request: Request,
}

/// A request of a screen.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Request {
    Overview,
    Tiles(TilesRequest),
    At {
        track: u32,
        lane: u32,
        time: f64,
        tolerance: f64,
    },
    Gap {
        track: u32,
        time: f64,
    },
    Event {
        id: u32,
    },
    Links {
        id: u32,
    },
    Neighbour {
        id: u32,
        direction: NeighbourDirection,
    },
    Search(SearchRequest),
    Marks {
        text: String,
        window: TimeWindow,
    },
    Summary {
        start: Option<f64>,
        end: Option<f64>,
        limit: Option<usize>,
        has_findings: bool,
        part: Option<u32>,
    },
    Analyze(AnalyzeRequest),
    /// Of one part, or the change to it from another one.
    Flame {
        of: AnalyzeRequest,
        against: Option<u32>,
    },
    Compare(CompareRequest),
    Hits {
        text: String,
        view: TableView,
    },
    /// A report of the traces, or of the comparison of two sides with a selection of both.
    Report {
        #[cfg(feature = "python-reports")]
        comparison: Option<Map<String, Value>>,
        title: String,
        facts: Vec<(String, String)>,
        /// Of the traces that the page carries, by kind, where the report is of whole ones.
        left_out: Map<String, Value>,
        /// Files of the job that could not be read, each with the reason.
        unread: Vec<(String, String)>,
    },
    /// The facts of a report as short text.
    #[cfg(feature = "digest")]
    Digest {
        comparison: Option<Map<String, Value>>,
        form: DigestForm,
        max_chars: usize,
        /// Files of the job that could not be read, each with the reason.
        unread: Vec<(String, String)>,
    },
    Picture {
        width: u32,
        /// Where no end is given: to the first or the last event.
        start: Option<f64>,
        end: Option<f64>,
    },
    Analyses,
    Findings,
    /// Of each part, or through all ranks.
    Path {
        is_through_job: bool,
        window: TimeWindow,
    },
    Counters,
    Counter {
        counter: u32,
        window: TimeWindow,
    },
    Changes,
}

/// A range of time as a screen has it: so many pixels wide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeWindow {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) pixels: u32,
}

/// More pixels than any screen has.
const MAX_PIXELS: u32 = 1 << 16;

impl TimeWindow {
    fn of(fields: &RequestFields) -> Result<Self, Error> {
        Ok(Self { start: fields.get("start")?, end: fields.get("end")?, pixels: fields.get("pixels")? })
    }

    /// An error where it is empty, or wider than screens are.
    pub(super) fn expect_some(self) -> Result<Self, Error> {
        if self.start < self.end && (1..=MAX_PIXELS).contains(&self.pixels) {
            return Ok(self);
        }
        let expected = format!("start before end and 1 to {MAX_PIXELS} pixels");
        let found = format!("{} to {}, {} pixels", self.start, self.end, self.pixels);
        Err(ErrorKind::Request { expected, found }.into())
    }
}

/// The colour key of a rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnerColour {
    Operator,
    Module,
}

impl RequestField for OwnerColour {
    const NOUN: &'static str = "operator or module";

    fn of(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "operator" => Some(Self::Operator),
            "module" => Some(Self::Module),
            _ => None,
        }
    }
}

#[cfg(feature = "digest")]
impl RequestField for DigestForm {
    const NOUN: &'static str = "markdown or json";

    fn of(value: &Value) -> Option<Self> {
        Self::named(value.as_str()?)
    }
}

/// An analysis of a part of the trace.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnalyzeRequest {
    pub(super) name: String,
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    pub(super) iteration: Option<i64>,
    pub(super) phase: Option<String>,
    pub(super) state: Option<String>,
    pub(super) annotation: Option<String>,
    pub(super) module: Option<String>,
    pub(super) stream: Option<i64>,
    pub(super) launched_inside: bool,
    pub(super) clip: bool,
    pub(super) options: Map<String, Value>,
    /// The number of the trace; all traces by default.
    pub(super) part: Option<u32>,
    /// The range of each trace, where none is asked for.
    pub(super) default_range: DefaultRange,
    pub(super) view: TableView,
}

/// Two ranges of a trace to compare.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CompareRequest {
    /// Before and after; without them, the sides of the screen are compared.
    pub(super) ranges: Option<[(f64, f64); 2]>,
    /// The number of the trace; the first by default.
    pub(super) part: Option<u32>,
    /// The selection of both sides of the screen.
    pub(super) selection: Map<String, Value>,
    pub(super) view: TableView,
}

impl CompareRequest {
    fn of(fields: &RequestFields) -> Result<Self, Error> {
        let start: Option<f64> = fields.maybe("start")?;
        let ranges = start.map(|start| {
            let before = (start, fields.get("end")?);
            Ok::<_, Error>([before, (fields.get("other_start")?, fields.get("other_end")?)])
        });
        Ok(Self {
            ranges: ranges.transpose()?,
            part: fields.maybe("part")?,
            selection: fields.maybe("options")?.unwrap_or_default(),
            view: TableView::of(fields)?,
        })
    }
}

/// Which rows of an answer's tables are wanted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableView {
    pub(super) limit: Option<usize>,
    pub(super) order: Option<TableOrder>,
}

impl TableView {
    fn of(fields: &RequestFields) -> Result<Self, Error> {
        Ok(Self { limit: fields.maybe("limit")?, order: fields.maybe("order")? })
    }
}

/// The range of a trace that is analysed, where none is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DefaultRange {
    /// The trimmed range; all of a whole recording.
    pub(super) is_trimmed: bool,
    /// With iterations in which the observer of the Execution Trace ran.
    pub(super) is_with_observed: bool,
}

/// The column that the rows of a table are to be in the order of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableOrder {
    pub(super) table: String,
    pub(super) column: String,
    pub(super) descends: bool,
}

impl RequestField for TableOrder {
    const NOUN: &'static str = "an object with table, column and descends";

    fn of(value: &Value) -> Option<Self> {
        let text = |name: &str| String::of(value.get(name)?);
        Some(Self { table: text("table")?, column: text("column")?, descends: bool::of(value.get("descends")?)? })
    }
}

impl AnalyzeRequest {
    fn of(fields: &RequestFields, name: String) -> Result<Self, Error> {
        Ok(Self {
            name,
            start: fields.maybe("start")?,
            end: fields.maybe("end")?,
            iteration: fields.maybe("iteration")?,
            phase: fields.maybe("phase")?,
            state: fields.maybe("state")?,
            annotation: fields.maybe("annotation")?,
            module: fields.maybe("module")?,
            stream: fields.maybe("stream")?,
            launched_inside: fields.maybe("launched_inside")?.unwrap_or_default(),
            clip: fields.maybe("clip")?.unwrap_or(true),
            options: fields.maybe("options")?.unwrap_or_default(),
            part: fields.maybe("part")?,
            default_range: DefaultRange {
                is_trimmed: fields.maybe("trimmed")?.unwrap_or_default(),
                is_with_observed: fields.maybe("observed")?.unwrap_or_default(),
            },
            view: TableView::of(fields)?,
        })
    }
}

/// Events to look for by a text in their names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SearchRequest {
    pub(super) text: String,
    pub(super) limit: usize,
    /// The place of the first that is wanted among all.
    pub(super) from: usize,
    /// Those from this time on are wanted instead.
    pub(super) start: Option<f64>,
}

/// Rectangles to draw for some tracks and a range of time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TilesRequest {
    pub(super) tracks: Vec<u32>,
    pub(super) window: TimeWindow,
    pub(super) by: Option<OwnerColour>,
}

/// Where to go from an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeighbourDirection {
    Next,
    Previous,
    Parent,
    Child,
}

impl RequestField for NeighbourDirection {
    const NOUN: &'static str = "next, previous, parent or child";

    fn of(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "next" => Some(Self::Next),
            "previous" => Some(Self::Previous),
            "parent" => Some(Self::Parent),
            "child" => Some(Self::Child),
            _ => None,
        }
    }
}

impl Request {
    pub(super) fn parse(bytes: &[u8]) -> Result<ParsedRequest, Error> {
        let fields = RequestFields::parse(bytes)?;
        let has_frames = fields.maybe("frames")?.unwrap_or(true);
        Ok(ParsedRequest { align: fields.maybe("align")?.unwrap_or_default(), has_frames, request: Self::of(&fields)? })
    }

    fn of(fields: &RequestFields) -> Result<Self, Error> {
        let request = match &fields.get::<String>("type")?[..] {
            "overview" => Self::Overview,
            "tiles" => {
                let (tracks, window, by) = (fields.get("tracks")?, TimeWindow::of(fields)?, fields.maybe("by")?);
                Self::Tiles(TilesRequest { tracks, window, by })
            }
            "at" => Self::At {
                track: fields.get("track")?,
                lane: fields.get("lane")?,
                time: fields.get("time")?,
                tolerance: fields.get("tolerance")?,
            },
            "gap" => Self::Gap { track: fields.get("track")?, time: fields.get("time")? },
            "event" => Self::Event { id: fields.get("id")? },
            "links" => Self::Links { id: fields.get("id")? },
            "neighbour" => Self::Neighbour { id: fields.get("id")?, direction: fields.get("direction")? },
            "search" => Self::Search(SearchRequest {
                text: fields.get("text")?,
                limit: fields.get("limit")?,
                from: fields.maybe("from")?.unwrap_or_default(),
                start: fields.maybe("start")?,
            }),
            "marks" => Self::Marks { text: fields.get("text")?, window: TimeWindow::of(fields)? },
            "summary" => Self::Summary {
                start: fields.maybe("start")?,
                end: fields.maybe("end")?,
                limit: fields.maybe("limit")?,
                has_findings: fields.maybe("findings")?.unwrap_or(true),
                part: fields.maybe("part")?,
            },
            "analyze" => Self::Analyze(AnalyzeRequest::of(fields, fields.get("name")?)?),
            "flame" => Self::Flame {
                of: AnalyzeRequest::of(fields, String::from("flamegraph"))?,
                against: fields.maybe("against")?,
            },
            "compare" => Self::Compare(CompareRequest::of(fields)?),
            "hits" => Self::Hits { text: fields.get("text")?, view: TableView::of(fields)? },
            "report" => Self::Report {
                #[cfg(feature = "python-reports")]
                comparison: fields.maybe("comparison")?,
                title: fields.get("title")?,
                facts: fields.get("facts")?,
                left_out: fields.maybe("left_out")?.unwrap_or_default(),
                unread: fields.maybe("unread")?.unwrap_or_default(),
            },
            #[cfg(feature = "digest")]
            "digest" => Self::Digest {
                comparison: fields.maybe("comparison")?,
                form: fields.maybe("form")?.unwrap_or(DigestForm::Markdown),
                max_chars: fields.get("max_chars")?,
                unread: fields.maybe("unread")?.unwrap_or_default(),
            },
            "picture" => {
                Self::Picture { width: fields.get("width")?, start: fields.maybe("start")?, end: fields.maybe("end")? }
            }
            "analyses" => Self::Analyses,
            "findings" => Self::Findings,
            "path" => Self::Path {
                is_through_job: fields.maybe("through_job")?.unwrap_or_default(),
                window: TimeWindow::of(fields)?,
            },
            "counters" => Self::Counters,
            "counter" => Self::Counter { counter: fields.get("counter")?, window: TimeWindow::of(fields)? },
            "changes" => Self::Changes,
            other => return Err(unexpected("a known request type", other.to_owned())),
        };
        Ok(request)
    }
}
