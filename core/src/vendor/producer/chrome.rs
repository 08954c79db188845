//! The tracing of the Chrome browser itself (`about:tracing`).

use super::entry::Producer;
use crate::vendor::entry::NamePattern::Start;

pub(super) static CHROME: Producer = Producer {
    title: "the Chrome browser's own tracing",
    advice: "it describes a browser; open it in Chrome or Perfetto",
    threads: &[Start("CrBrowserMain"), Start("CrRendererMain"), Start("CrGpuMain")],
    ..Producer::EMPTY
};
