//! Queue pair 1: whole Ethernet frames to and from the engine.

use std::collections::VecDeque;

use crate::abi::offsets as reg;
use crate::abi::{CQ_CONTEXT, QP_CONTEXT, QpState, Record, Status, Table, WqeOpcode};
use crate::hal::Hal;

use crate::ndk::error::AdapterError;
use crate::ndk::wqe::{CQE_BYTES, Completion, ENTRY, SqEntry, SqHeader, rq_entry};
use crate::ndk::{LocalToken, NdkError, OpFlags, PAGE_SIZE, Sge, window};

/// Number of the queue pair.
const NUMBER: u32 = 1;
/// log2 of the frames that can be on their way in, and out.
const LOG_FRAMES: u32 = 5;
const FRAMES: u16 = 1 << LOG_FRAMES;
/// Bytes of the longest frame.
const FRAME_BYTES: usize = 2048;
/// Completions of both queues at once.
const LOG_COMPLETIONS: u32 = LOG_FRAMES + 1;

/// The queue pair's rings and buffers.
pub(super) struct FramePort {
    cq: u32,
    token: LocalToken,
    /// Buffers: those of receives, behind them those of sends.
    buffers: u64,
    send_ring: u64,
    receive_ring: u64,
    completion_ring: u64,
    /// Next and oldest send.
    producer: u16,
    oldest: u16,
    /// Next receive to post.
    posted: u16,
    /// Next completion.
    consumer: u16,
    /// Frames that found no place in the ring yet.
    waiting: VecDeque<Vec<u8>>,
}

impl FramePort {
    /// Makes queue pair 1 ready. `cq` is the completion queue that it may use alone; `token` gives access to all memory
    /// for its protection domain `pd`.
    pub(super) fn open<H: Hal>(
        hal: &mut H,
        cq: u32,
        pd: u32,
        token: LocalToken,
    ) -> Result<Self, NdkError> {
        let mut ring = |bytes: usize| hal.allocate(bytes, bytes as u64);
        let send_ring = ring(ENTRY << LOG_FRAMES)?;
        let receive_ring = ring(ENTRY << LOG_FRAMES)?;
        let completion_ring = ring(CQE_BYTES << LOG_COMPLETIONS)?;
        let buffers = hal.allocate(2 * FRAME_BYTES << LOG_FRAMES, PAGE_SIZE)?;
        let entry = Record::new(&CQ_CONTEXT)
            .with("valid", 1u8)
            .with("log_size", LOG_COMPLETIONS)
            .with("base", completion_ring);
        window::write_entry(hal, Table::Cq, cq, &entry)?;
        let entry = Record::new(&QP_CONTEXT)
            .with("state", QpState::Rts)
            .with("sq_log", LOG_FRAMES)
            .with("rq_log", LOG_FRAMES)
            .with("pd", pd)
            .with("send_cq", cq)
            .with("recv_cq", cq)
            .with("sq_base", send_ring)
            .with("rq_base", receive_ring);
        window::write_entry(hal, Table::Qp, NUMBER, &entry)?;
        let mut port = Self {
            cq,
            token,
            buffers,
            send_ring,
            receive_ring,
            completion_ring,
            producer: 0,
            oldest: 0,
            posted: 0,
            consumer: 0,
            waiting: VecDeque::new(),
        };
        for _ in 0..FRAMES {
            port.post_receive(hal)?;
        }
        port.ring_receives(hal)?;
        Ok(port)
    }

    /// Sends a frame, or keeps it until there is a place for it. One that is longer than the engine takes is not sent.
    pub(super) fn send<H: Hal>(&mut self, hal: &mut H, frame: Vec<u8>) -> Result<(), NdkError> {
        if frame.len() <= FRAME_BYTES {
            self.waiting.push_back(frame);
        }
        self.post_sends(hal)
    }

    /// The frames that came since the last call.
    pub(super) fn receive<H: Hal>(&mut self, hal: &mut H) -> Result<Vec<Vec<u8>>, NdkError> {
        let mut frames = Vec::new();
        let mut bytes = [0; CQE_BYTES];
        let before = self.consumer;
        for _ in 0..1 << LOG_COMPLETIONS {
            let place = u64::from(self.consumer) & ((1 << LOG_COMPLETIONS) - 1);
            hal.read_memory(self.completion_ring + place * CQE_BYTES as u64, &mut bytes)?;
            let phase = self.consumer >> LOG_COMPLETIONS & 1 == 0;
            let Some(completion) = Completion::parse(&bytes, phase) else {
                break;
            };
            self.consumer = self.consumer.wrapping_add(1);
            if completion.status != Status::Success as u8 {
                return Err(AdapterError::Frame {
                    status: completion.status,
                }
                .into());
            }
            if completion.receive {
                let length = (completion.byte_len as usize).min(FRAME_BYTES);
                let mut frame = vec![0; length];
                hal.read_memory(self.receive_buffer(completion.wqe_index), &mut frame)?;
                frames.push(frame);
                self.post_receive(hal)?;
            } else {
                self.oldest = completion.wqe_index.wrapping_add(1);
            }
        }
        if self.consumer != before {
            let value = self.cq << 16 | u32::from(self.consumer);
            hal.write_register(reg::DB_CQ, value)?;
            self.ring_receives(hal)?;
            self.post_sends(hal)?;
        }
        Ok(frames)
    }

    fn post_sends<H: Hal>(&mut self, hal: &mut H) -> Result<(), NdkError> {
        let before = self.producer;
        while self.producer.wrapping_sub(self.oldest) < FRAMES
            && let Some(frame) = self.waiting.pop_front()
        {
            let buffer = self.receive_buffer(self.producer) + (FRAME_BYTES << LOG_FRAMES) as u64;
            hal.write_memory(buffer, &frame)?;
            let length = frame.len() as u32;
            let mut entry = SqEntry::new(&SqHeader {
                opcode: WqeOpcode::Frame,
                flags: OpFlags::NONE,
                silent: false,
                index: self.producer,
                length,
                object_token: 0,
                remote_address: 0,
                remote_token: 0,
            });
            entry.set_elements(&[Sge {
                address: buffer,
                length,
                token: self.token,
            }]);
            let place = self.send_ring + place(self.producer) * ENTRY as u64;
            hal.write_memory(place, entry.as_bytes())?;
            self.producer = self.producer.wrapping_add(1);
        }
        if self.producer != before {
            let value = NUMBER << 16 | u32::from(self.producer);
            hal.write_register(reg::DB_SQ, value)?;
        }
        Ok(())
    }

    fn post_receive<H: Hal>(&mut self, hal: &mut H) -> Result<(), NdkError> {
        let entry = rq_entry(&[Sge {
            address: self.receive_buffer(self.posted),
            length: FRAME_BYTES as u32,
            token: self.token,
        }]);
        let place = self.receive_ring + place(self.posted) * ENTRY as u64;
        hal.write_memory(place, &entry)?;
        self.posted = self.posted.wrapping_add(1);
        Ok(())
    }

    fn ring_receives<H: Hal>(&self, hal: &mut H) -> Result<(), NdkError> {
        let value = NUMBER << 16 | u32::from(self.posted);
        Ok(hal.write_register(reg::DB_RQ, value)?)
    }

    fn receive_buffer(&self, index: u16) -> u64 {
        self.buffers + place(index) * FRAME_BYTES as u64
    }
}

/// Place of a free-running index in a ring.
fn place(index: u16) -> u64 {
    u64::from(index & (FRAMES - 1))
}
