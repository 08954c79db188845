//! Decompresses streams.

use std::io::{BufRead, Read};

use flate2::bufread::MultiGzDecoder;

use super::container::Container;
#[cfg(feature = "archives")]
use super::zstd::{MAX_DICTIONARY, ZstdFrames};

/// The stream inside `stream`; the stream itself where it is not compressed, or not in a way that
/// is read here.
pub(super) fn decompress<'a>(container: Container, stream: impl BufRead + Send + 'a) -> Box<dyn Read + Send + 'a> {
    match container {
        Container::Gzip => Box::new(MultiGzDecoder::new(stream)),
        #[cfg(feature = "archives")]
        Container::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(stream, true, MAX_DICTIONARY >> 10)),
        #[cfg(feature = "archives")]
        Container::Zstd => Box::new(ZstdFrames::new(stream)),
        _ => Box::new(stream),
    }
}
