//! pcapng.

use std::sync::Arc;
use std::time::Duration;

use super::bytes::{Order, slice, u16_at, u32_at};
use super::{Cause, Packet, ethernet};

/// Block types. That of a section reads the same in both byte orders.
pub(super) const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Option codes.
const COMMENT: u16 = 1;
const INTERFACE_NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;

/// Least length of a block: type and both lengths.
const FRAMING: usize = 12;

/// An interface of the section.
struct Interface {
    name: Option<Arc<str>>,
    link: u32,
    snap: u32,
    /// `if_tsresol`.
    resolution: u8,
    /// Where it is described.
    offset: usize,
}

impl Interface {
    /// Time of a count of its units.
    fn time(&self, units: u64) -> Duration {
        let exponent = u32::from(self.resolution & 0x7F);
        let base: u128 = if self.resolution & 0x80 == 0 { 10 } else { 2 };
        let per_second = base.checked_pow(exponent).unwrap_or(u128::MAX);
        let units = u128::from(units);
        let seconds = u64::try_from(units / per_second).unwrap_or(u64::MAX);
        let rest = (units % per_second).saturating_mul(1_000_000_000) / per_second;
        Duration::new(seconds, u32::try_from(rest).unwrap_or(0))
    }
}

/// Where the frame stands in a block's body, and when it passed.
struct Place {
    interface: u32,
    units: u64,
    captured: u32,
    length: u32,
    data: usize,
}

/// The frames of a file.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Packet>, (usize, Cause)> {
    let mut packets = Vec::new();
    let mut interfaces: Vec<Interface> = Vec::new();
    let (mut offset, mut order) = (0, Order::Little);
    while offset < bytes.len() {
        let cut = || (offset, Cause::CutOff("a block"));
        let kind = u32_at(bytes, offset, order).ok_or_else(cut)?;
        if kind == SECTION {
            order = byte_order(bytes, offset)?;
            interfaces.clear();
        }
        let length = u32_at(bytes, offset + 4, order).ok_or_else(cut)?;
        if (length as usize) < FRAMING || !length.is_multiple_of(4) {
            return Err((offset, Cause::BlockLength(length)));
        }
        let block = slice(bytes, offset, length as usize).ok_or_else(cut)?;
        let trailer = u32_at(block, block.len() - 4, order).ok_or_else(cut)?;
        if trailer != length {
            return Err((offset, Cause::Trailer(length, trailer)));
        }
        let body = block.get(8..block.len() - 4).unwrap_or_default();
        let short = || (offset, Cause::BlockLength(length));
        match kind {
            SECTION => {
                let version = u16_at(body, 4, order).ok_or_else(short)?;
                if version != 1 {
                    return Err((offset, Cause::Version(version)));
                }
            }
            INTERFACE => {
                let resolution = option(body, 8, TIME_RESOLUTION, order);
                let name = option(body, 8, INTERFACE_NAME, order);
                interfaces.push(Interface {
                    name: name.map(|text| String::from_utf8_lossy(text).into()),
                    link: u16_at(body, 0, order).ok_or_else(short)?.into(),
                    snap: u32_at(body, 4, order).ok_or_else(short)?,
                    resolution: resolution
                        .and_then(|value| value.first().copied())
                        .unwrap_or(6),
                    offset,
                });
            }
            ENHANCED_PACKET | OBSOLETE_PACKET | SIMPLE_PACKET => {
                let place = place(kind, body, order, &interfaces).ok_or_else(short)?;
                let interface = interfaces
                    .get(place.interface as usize)
                    .ok_or((offset, Cause::Interface(place.interface)))?;
                ethernet(interface.link).map_err(|cause| (interface.offset, cause))?;
                let captured = place.captured as usize;
                let data = slice(body, place.data, captured)
                    .ok_or((offset, Cause::Frame(place.captured)))?;
                let options = place.data + captured.next_multiple_of(4);
                let comment = match kind {
                    SIMPLE_PACKET => None,
                    _ => option(body, options, COMMENT, order),
                };
                packets.push(Packet {
                    number: packets.len() + 1,
                    time: interface.time(place.units),
                    interface: interface.name.clone(),
                    bytes: data.into(),
                    length: place.length as usize,
                    comment: comment.map(|text| String::from_utf8_lossy(text).into_owned()),
                });
            }
            _ => {}
        }
        offset += block.len();
    }
    Ok(packets)
}

/// Byte order of the section that begins here.
fn byte_order(bytes: &[u8], offset: usize) -> Result<Order, (usize, Cause)> {
    match u32_at(bytes, offset + 8, Order::Big) {
        Some(0x1A2B_3C4D) => Ok(Order::Big),
        Some(0x4D3C_2B1A) => Ok(Order::Little),
        Some(other) => Err((offset + 8, Cause::Magic(other))),
        None => Err((offset, Cause::CutOff("a block"))),
    }
}

/// Where the frame of a block stands.
fn place(kind: u32, body: &[u8], order: Order, interfaces: &[Interface]) -> Option<Place> {
    let field = |offset| u32_at(body, offset, order);
    if kind == SIMPLE_PACKET {
        let length = field(0)?;
        let snap = interfaces.first().map_or(0, |interface| interface.snap);
        return Some(Place {
            interface: 0,
            units: 0,
            captured: if snap == 0 { length } else { length.min(snap) },
            length,
            data: 4,
        });
    }
    let interface = match kind {
        // Two bytes, and a count of lost frames behind them.
        OBSOLETE_PACKET => u16_at(body, 0, order)?.into(),
        _ => field(0)?,
    };
    Some(Place {
        interface,
        units: u64::from(field(4)?) << 32 | u64::from(field(8)?),
        captured: field(12)?,
        length: field(16)?,
        data: 20,
    })
}

/// The first option of a code; what is wrong with a list of options ends it.
fn option(body: &[u8], start: usize, wanted: u16, order: Order) -> Option<&[u8]> {
    let mut offset = start;
    loop {
        let code = u16_at(body, offset, order)?;
        let length = usize::from(u16_at(body, offset + 2, order)?);
        let value = slice(body, offset + 4, length)?;
        match code {
            0 => return None,
            code if code == wanted => return Some(value),
            _ => offset += 4 + length.next_multiple_of(4),
        }
    }
}
