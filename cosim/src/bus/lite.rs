//! AXI4-Lite master: the driver's register accesses.

use super::Violation;
use crate::ports::{LiteIn, LiteOut};

/// The answer to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteReply {
    /// A write was answered.
    Written {
        /// BRESP, 0 is OKAY.
        response: u8,
    },
    /// A read was answered.
    Read {
        /// RRESP, 0 is OKAY.
        response: u8,
        /// The register's value.
        value: u32,
    },
}

/// One access at a time, as a processor does it.
#[derive(Debug, Default)]
pub struct LiteMaster {
    start: Option<Access>,
    busy: bool,
}

#[derive(Clone, Copy, Debug)]
enum Access {
    Write { offset: u32, value: u32 },
    Read { offset: u32 },
}

impl LiteMaster {
    /// Starts a write with the next clock.
    pub fn write(&mut self, offset: u32, value: u32) {
        self.start = Some(Access::Write { offset, value });
    }

    /// Starts a read with the next clock.
    pub fn read(&mut self, offset: u32) {
        self.start = Some(Access::Read { offset });
    }

    /// One clock.
    pub fn clock(
        &mut self,
        cycle: u64,
        engine: &LiteOut,
        now: &mut LiteIn,
    ) -> Result<Option<LiteReply>, Violation> {
        let mut reply = None;
        if engine.bvalid && now.bready {
            reply = Some(LiteReply::Written {
                response: engine.bresp,
            });
            now.bready = false;
        } else if engine.rvalid && now.rready {
            reply = Some(LiteReply::Read {
                response: engine.rresp,
                value: engine.rdata,
            });
            now.rready = false;
        } else if !self.busy && (engine.bvalid || engine.rvalid) {
            let rule = "an answer that nobody asked for".to_owned();
            return Err(Violation {
                cycle,
                port: "s_axil",
                rule,
            });
        }
        now.awvalid &= !engine.awready;
        now.wvalid &= !engine.wready;
        now.arvalid &= !engine.arready;
        self.busy &= reply.is_none();
        match self.start.take() {
            Some(Access::Write { offset, value }) => {
                self.busy = true;
                (now.awvalid, now.awaddr) = (true, offset);
                (now.wvalid, now.wdata, now.wstrb) = (true, value, 0xF);
                now.bready = true;
            }
            Some(Access::Read { offset }) => {
                self.busy = true;
                (now.arvalid, now.araddr, now.rready) = (true, offset, true);
            }
            None => {}
        }
        Ok(reply)
    }
}
