//! Opens a file: a window on its text, plain or decompressed.

use std::io::{BufReader, Cursor, Read};

use super::container::{BINARY, BOM, Container, HEAD_BYTES, sniff};
use super::decompress::decompress;
use super::input::{Input, InputSource, Limits};
use super::text_window::TextWindow;
use crate::error::{Error, ErrorKind, Position, unreadable};

/// Opens a window on a file, decompressed, with enough bytes for [`sniff`].
pub(super) fn open(input: Input<'_>, limits: Limits) -> Result<TextWindow<'_>, Error> {
    let mut window = match input.source {
        InputSource::Bytes(bytes) if !sniff(&bytes).is_stream() => TextWindow::over(bytes, limits)?,
        source => TextWindow::on(decompressed(source)?, limits),
    };
    while (window.text().len() as u64) < HEAD_BYTES && window.fill()? {}
    Ok(window)
}

/// Lets the window stand behind a byte order mark.
pub(super) fn skip_mark(window: &mut TextWindow<'_>) {
    let bom = if window.text().starts_with(BOM) { BOM.len() } else { 0 };
    window.consume(bom);
}

/// Lets the window stand before JSON text. An error when it holds something else.
pub(super) fn expect_json(window: &mut TextWindow<'_>, name: Option<&str>) -> Result<(), Error> {
    let container = sniff(window.text());
    let position = Position { file: name.map(Into::into), byte: Some(0), ..Position::default() };
    let found = match container {
        Container::Empty if window.is_damaged => "a compressed stream that is damaged at its start",
        Container::Empty if !window.text().is_empty() => "a file of blanks",
        _ => container.words(),
    };
    let expected = match container {
        // It may be anything, a damaged Chakra trace or snapshot as well.
        Container::Other(BINARY) => "a trace, plain or compressed",
        _ if cfg!(feature = "archives") => "a JSON trace, plain or compressed",
        _ => "a JSON trace, plain, gzip or xz",
    };
    match container {
        Container::Json => {
            skip_mark(window);
            Ok(())
        }
        Container::Empty => Err(ErrorKind::Malformed { expected, found: found.to_owned(), position }.into()),
        _ => Err(ErrorKind::Unsupported { expected, found: found.into(), position }.into()),
    }
}

/// The decompressed stream; a plain stream stays as it is.
pub(super) fn decompressed(source: InputSource<'_>) -> Result<Box<dyn Read + Send + '_>, Error> {
    match source {
        InputSource::Bytes(bytes) => Ok(decompress(sniff(&bytes), Cursor::new(bytes))),
        InputSource::Stream(stream) => {
            let (container, whole) = sniff_stream(stream)?;
            Ok(decompress(container, BufReader::new(whole)))
        }
    }
}

/// Recognises a stream by its first bytes, and gives it back with them.
pub(super) fn sniff_stream<'a>(mut stream: impl Read + Send + 'a) -> Result<(Container, impl Read + Send + 'a), Error> {
    let mut head = Vec::new();
    let failure = match stream.by_ref().take(HEAD_BYTES).read_to_end(&mut head) {
        Err(error) if head.is_empty() => return Err(unreadable(error)),
        outcome => outcome.err(),
    };
    Ok((sniff(&head), Cursor::new(head).chain(FailedStream(failure)).chain(stream)))
}

/// Fails once with an error, if there is one.
struct FailedStream(Option<std::io::Error>);

impl Read for FailedStream {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
