//! Requests, as JSON.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::align::Align;
use crate::error::{Error, ErrorKind};

/// A request, and how times are to be laid over each other.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Asked {
    pub(super) align: Option<Align>,
    #[serde(flatten)]
    pub(super) request: Request,
}

/// What a screen may ask.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Request {
    Overview,
    Tiles(TilesRequest),
    At {
        track: u32,
        lane: u32,
        time: f64,
        tolerance: f64,
    },
    Event {
        id: u32,
    },
    Links {
        id: u32,
    },
    Neighbour {
        id: u32,
        direction: Direction,
    },
    Search {
        text: String,
        limit: usize,
    },
    Summary {
        start: Option<f64>,
        end: Option<f64>,
        limit: Option<usize>,
        part: Option<u32>,
    },
    Analyze(AnalyzeRequest),
    Report {
        title: String,
        facts: Vec<(String, String)>,
    },
    Picture {
        width: u32,
    },
    Analyses,
    Findings,
    Path(Window),
    Counters,
    Counter {
        counter: u32,
        #[serde(flatten)]
        window: Window,
    },
    Changes,
}

/// A range of time as a screen has it: so many pixels wide.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct Window {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) pixels: u32,
}

/// More pixels than any screen has.
const MAX_PIXELS: u32 = 1 << 16;

impl Window {
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

/// What a rectangle is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Owner {
    Operator,
    Module,
}

/// An analysis of a part of the trace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct AnalyzeRequest {
    pub(super) name: String,
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    pub(super) iteration: Option<i64>,
    pub(super) stream: Option<i64>,
    #[serde(default)]
    pub(super) launched_inside: bool,
    #[serde(default)]
    pub(super) whole: bool,
    #[serde(default)]
    pub(super) options: Map<String, Value>,
    pub(super) limit: Option<usize>,
    /// Of several traces, the one that is asked about; all of them, if nobody says which.
    pub(super) part: Option<u32>,
}

/// Rectangles to draw for some tracks and a range of time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct TilesRequest {
    pub(super) tracks: Vec<u32>,
    #[serde(flatten)]
    pub(super) window: Window,
    pub(super) by: Option<Owner>,
}

/// Where to go from an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Direction {
    Next,
    Previous,
    Parent,
    Child,
}

impl Request {
    pub(super) fn parse(bytes: &[u8]) -> Result<Asked, Error> {
        serde_json::from_slice(bytes).map_err(|error| {
            let expected = String::from("a request of a known type");
            ErrorKind::Request { expected, found: error.to_string() }.into()
        })
    }
}
