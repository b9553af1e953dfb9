//! Classic pcap.

use std::time::Duration;

use super::bytes::{Order, slice, u16_at, u32_at};
use super::{Cause, Packet, ethernet};

/// Length of the file's header.
const HEADER: usize = 24;
/// Length of a frame's header.
const RECORD: usize = 16;

/// Byte order and resolution, as the first four bytes say.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    order: Order,
    /// Nanoseconds of a fraction of a second.
    unit: u64,
}

impl Kind {
    /// That of a file that begins so, read big-endian.
    pub(super) fn of(magic: u32) -> Option<Self> {
        let (order, unit) = match magic {
            0xA1B2_C3D4 => (Order::Big, 1000),
            0xA1B2_3C4D => (Order::Big, 1),
            0xD4C3_B2A1 => (Order::Little, 1000),
            0x4D3C_B2A1 => (Order::Little, 1),
            _ => return None,
        };
        Some(Self { order, unit })
    }
}

/// The frames of a file.
pub(super) fn parse(bytes: &[u8], kind: Kind) -> Result<Vec<Packet>, (usize, Cause)> {
    let cut = || (bytes.len(), Cause::CutOff("its header"));
    let version = u16_at(bytes, 4, kind.order).ok_or_else(cut)?;
    // The upper bits say what stands behind each frame, if anything.
    let link = u32_at(bytes, 20, kind.order).ok_or_else(cut)? & 0xFFFF;
    if version != 2 {
        return Err((4, Cause::Version(version)));
    }
    ethernet(link).map_err(|cause| (20, cause))?;

    let mut packets = Vec::new();
    let mut offset = HEADER;
    while offset < bytes.len() {
        let field = |index: usize| {
            u32_at(bytes, offset + 4 * index, kind.order)
                .ok_or((offset, Cause::CutOff("a frame's header")))
        };
        let (seconds, fraction) = (field(0)?, field(1)?);
        let (captured, length) = (field(2)?, field(3)?);
        let data = slice(bytes, offset + RECORD, captured as usize)
            .ok_or((offset, Cause::CutOff("a frame")))?;
        let nanos = u64::from(fraction) * kind.unit;
        packets.push(Packet {
            number: packets.len() + 1,
            time: Duration::from_secs(seconds.into()) + Duration::from_nanos(nanos),
            interface: None,
            bytes: data.into(),
            length: length as usize,
            comment: None,
        });
        offset += RECORD + data.len();
    }
    Ok(packets)
}
