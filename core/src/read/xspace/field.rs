//! Numbers of the fields in the messages of `xplane.proto` (package `tensorflow.profiler`).

/// `XSpace`, the file.
pub(super) mod space {
    pub(in crate::read::xspace) const PLANE: u32 = 1;
    pub(in crate::read::xspace) const ERROR: u32 = 2;
    pub(in crate::read::xspace) const WARNING: u32 = 3;
    pub(in crate::read::xspace) const HOST_NAME: u32 = 4;
}

/// `XPlane`.
pub(super) mod plane {
    pub(in crate::read::xspace) const NAME: u32 = 2;
    pub(in crate::read::xspace) const LINE: u32 = 3;
    pub(in crate::read::xspace) const EVENT_METADATA: u32 = 4;
    pub(in crate::read::xspace) const STAT_METADATA: u32 = 5;
    pub(in crate::read::xspace) const STAT: u32 = 6;
}

/// The entry of a map.
pub(super) mod entry {
    pub(in crate::read::xspace) const KEY: u32 = 1;
    pub(in crate::read::xspace) const VALUE: u32 = 2;
}

/// `XLine`.
pub(super) mod line {
    pub(in crate::read::xspace) const ID: u32 = 1;
    pub(in crate::read::xspace) const NAME: u32 = 2;
    pub(in crate::read::xspace) const TIMESTAMP_NS: u32 = 3;
    pub(in crate::read::xspace) const EVENT: u32 = 4;
    pub(in crate::read::xspace) const DISPLAY_ID: u32 = 10;
    pub(in crate::read::xspace) const DISPLAY_NAME: u32 = 11;
}

/// `XEvent`.
pub(super) mod event {
    pub(in crate::read::xspace) const METADATA_ID: u32 = 1;
    pub(in crate::read::xspace) const OFFSET_PS: u32 = 2;
    pub(in crate::read::xspace) const DURATION_PS: u32 = 3;
    pub(in crate::read::xspace) const STAT: u32 = 4;
    pub(in crate::read::xspace) const NUM_OCCURRENCES: u32 = 5;
}

/// `XEventMetadata` and `XStatMetadata`, whose names have one number.
pub(super) mod metadata {
    pub(in crate::read::xspace) const NAME: u32 = 2;
    pub(in crate::read::xspace) const DISPLAY_NAME: u32 = 4;
    pub(in crate::read::xspace) const STAT: u32 = 5;
}

/// `XStat`.
pub(super) mod stat {
    pub(in crate::read::xspace) const METADATA_ID: u32 = 1;
    pub(in crate::read::xspace) const DOUBLE: u32 = 2;
    pub(in crate::read::xspace) const UINT64: u32 = 3;
    pub(in crate::read::xspace) const INT64: u32 = 4;
    pub(in crate::read::xspace) const TEXT: u32 = 5;
    pub(in crate::read::xspace) const REFERENCE: u32 = 7;
}
