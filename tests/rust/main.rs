//! Tests of the core on whole traces.

mod files;
mod hostile;
mod laws;
mod links;
mod seam;
mod summary;
