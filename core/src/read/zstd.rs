//! Reads zstd streams of one or many frames.

use std::io::{BufRead, Error, Read, Result};

use super::decompress::MAX_DICTIONARY;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The text of all frames, one after another.
pub(super) struct ZstdFrames<R: BufRead> {
    stream: R,
    decoder: FrameDecoder,
    is_inside: bool,
    /// The failure, reported after all bytes before it.
    failure: Option<Error>,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(super) fn new(stream: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(u64::from(MAX_DICTIONARY));
        Self { stream, decoder, is_inside: false, failure: None }
    }

    /// Goes to the next frame that holds text; false when there is none.
    fn enter(&mut self) -> Result<bool> {
        while !self.stream.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.stream) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    std::io::copy(&mut self.stream.by_ref().take(u64::from(length)), &mut std::io::sink())?;
                }
                Err(error) => return Err(Error::other(error)),
            }
        }
        Ok(false)
    }

    /// Decodes so much that as many bytes can be given, or all that there is of the frame.
    fn decode(&mut self, wanted: usize) {
        while self.failure.is_none() && self.decoder.can_collect() < wanted && !self.decoder.is_finished() {
            let step = BlockDecodingStrategy::UptoBytes(wanted - self.decoder.can_collect());
            self.failure = self.decoder.decode_blocks(&mut self.stream, step).err().map(Error::other);
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while !buffer.is_empty() {
            if self.is_inside {
                self.decode(buffer.len());
                let count = self.decoder.read(buffer)?;
                if count > 0 {
                    return Ok(count);
                }
                if let Some(failure) = self.failure.take() {
                    self.is_inside = false;
                    return Err(failure);
                }
            }
            self.is_inside = self.enter()?;
            if !self.is_inside {
                break;
            }
        }
        Ok(0)
    }
}
