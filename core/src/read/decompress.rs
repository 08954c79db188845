//! Decompresses streams.

use std::io::{BufRead, Read};

use flate2::bufread::MultiGzDecoder;

use super::container::Container;
#[cfg(feature = "archives")]
use super::zstd::ZstdFrames;

/// Dictionaries larger than this are refused: they are memory that the file asks for before it
/// gives anything.
#[cfg(feature = "xz")]
pub(super) const MAX_DICTIONARY: u32 = 1 << 28;

/// The stream inside `stream`; the stream itself where it is not compressed, or not in a way that
/// is read here.
pub(super) fn decompress<'a>(container: Container, stream: impl BufRead + Send + 'a) -> Box<dyn Read + Send + 'a> {
    match container {
        Container::Gzip => Box::new(MultiGzDecoder::new(stream)),
        #[cfg(feature = "xz")]
        Container::Xz => {
            let stream: Box<dyn BufRead + Send + 'a> = Box::new(stream); // one decoder in every page, not three
            Box::new(lzma_rust2::XzReader::new_mem_limit(stream, true, MAX_DICTIONARY >> 10))
        }
        #[cfg(feature = "archives")]
        Container::Zstd => Box::new(ZstdFrames::new(stream)),
        _ => Box::new(stream),
    }
}
