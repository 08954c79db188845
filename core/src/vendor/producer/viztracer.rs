//! `VizTracer`: calls of Python functions. Their category `FEE` is known in any file.

use super::entry::Producer;

pub(super) static VIZTRACER: Producer = Producer {
    title: "VizTracer",
    advice: "it records Python functions alone; record operators and devices with torch.profiler",
    header_keys: &["viztracer_metadata"],
    categories: &["FEE"],
    ..Producer::EMPTY
};
