//! What the world sees, and what is read for it.

use super::{Effect, Engine, InputError, Inputs, ReadChannel, WriteChannel};
use crate::abi::EventKind;
use crate::context::{Chunk, QpContext};
use crate::wire::{Bth, Ext, Frame};

impl Engine {
    /// Reads the payload of the packet that is sent.
    pub(super) fn gather(
        &mut self,
        chunks: &[Chunk],
        inputs: &mut dyn Inputs,
    ) -> Result<(), InputError> {
        let total = chunks.iter().map(|chunk| chunk.length).sum();
        self.scratch.payload.resize(total, 0);
        let mut rest = self.scratch.payload.as_mut_slice();
        for chunk in chunks {
            let Some((bytes, after)) = rest.split_at_mut_checked(chunk.length) else {
                break;
            };
            inputs.read(ReadChannel::Gather, chunk.address, bytes)?;
            rest = after;
        }
        self.gather_reads += chunks.len() as u64;
        Ok(())
    }

    /// A packet with the gathered payload leaves.
    pub(super) fn emit(&mut self, qp: &QpContext, bth: Bth, ext: Ext, effects: &mut Vec<Effect>) {
        let mut bytes = self.buffer();
        let (eth, ip) = self.host.port.headers(qp);
        let frame = Frame {
            payload: &self.scratch.payload,
            ..Frame::new(eth, ip, qp.udp_sport, bth, ext)
        };
        frame.emit(&mut bytes);
        self.host.counters.frame_out(bytes.len());
        effects.push(Effect::Frame(bytes));
    }

    /// Places payload, one write for each chunk; the number of payload writes then, if there were any.
    pub(super) fn scatter(
        &mut self,
        chunks: &[Chunk],
        payload: &[u8],
        effects: &mut Vec<Effect>,
    ) -> Option<u64> {
        let mut rest = payload;
        for chunk in chunks {
            let (bytes, after) = rest.split_at_checked(chunk.length)?;
            self.write(WriteChannel::Payload, chunk.address, bytes, effects);
            self.payload_writes += 1;
            rest = after;
        }
        (!chunks.is_empty()).then_some(self.payload_writes)
    }

    pub(super) fn event(
        &mut self,
        kind: EventKind,
        code: u8,
        number: u32,
        effects: &mut Vec<Effect>,
    ) {
        let (address, bytes) = self.host.events.push(kind, code, number);
        self.write(WriteChannel::Completion, address, &bytes, effects);
    }

    pub(super) fn write(
        &mut self,
        channel: WriteChannel,
        address: u64,
        from: &[u8],
        effects: &mut Vec<Effect>,
    ) {
        let mut bytes = self.buffer();
        bytes.extend_from_slice(from);
        effects.push(Effect::Write {
            channel,
            address,
            bytes,
        });
    }
}
