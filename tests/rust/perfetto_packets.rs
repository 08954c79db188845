//! Makes traces of Perfetto, packet by packet.

/// A message under construction.
#[derive(Default, Clone)]
pub(crate) struct Wire(pub(crate) Vec<u8>);

impl Wire {
    pub(crate) fn number(mut self, field: u32, number: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(number);
        self
    }

    pub(crate) fn bytes(mut self, field: u32, bytes: impl AsRef<[u8]>) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend_from_slice(bytes.as_ref());
        self
    }

    pub(crate) fn fixed(mut self, field: u32, bits: u64) -> Self {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&bits.to_le_bytes());
        self
    }

    pub(crate) fn message(self, field: u32, message: Self) -> Self {
        self.bytes(field, message.0)
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

/// An empty message.
pub(crate) fn wire() -> Wire {
    Wire::default()
}

/// A file of these packets.
pub(crate) fn file(packets: impl IntoIterator<Item = Wire>) -> Vec<u8> {
    packets.into_iter().fold(wire(), |file, packet| file.message(1, packet)).0
}

/// A packet of a sequence at a time, without references.
pub(crate) fn at(time: u64) -> Wire {
    wire().number(8, time).number(10, 1)
}

/// A thread's track.
pub(crate) fn thread(uuid: u64, [process, thread]: [u64; 2], name: &str) -> Wire {
    let descriptor = wire().number(1, process).number(2, thread).bytes(5, name);
    wire().message(60, wire().number(1, uuid).message(4, descriptor))
}

/// A track with a name inside another.
pub(crate) fn inside(uuid: u64, parent: u64, name: &str) -> Wire {
    wire().message(60, wire().number(1, uuid).number(5, parent).bytes(2, name))
}

pub(crate) fn begin(time: u64, track: u64, name: &str) -> Wire {
    at(time).message(11, wire().number(9, 1).number(11, track).bytes(23, name))
}

pub(crate) fn end(time: u64, track: u64) -> Wire {
    at(time).message(11, wire().number(9, 2).number(11, track))
}
