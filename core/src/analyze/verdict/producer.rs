//! Names the tool that wrote a trace, if it is not Kineto.

use super::problem::{Problem, VerdictState};
use crate::trace::Trace;

/// A remark, so that nobody takes the file for one of Kineto.
pub(super) fn problem(trace: &Trace) -> Option<Problem> {
    let producer = trace.producer()?;
    let name = if producer.records_pytorch { "foreign_recorder" } else { "foreign_program" };
    let message = format!("the file was written by {}, not by Kineto", producer.title);
    Some(Problem::new(name, VerdictState::Complete, 1, message).advised(producer.advice).noticed())
}
