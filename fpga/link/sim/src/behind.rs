//! What is behind the link: registers, memory, network and actions of a core of the model, on the link's ports.

use std::collections::VecDeque;

use tandem_link::model::{Core, Fault};

use crate::ports::ffi::{Beat, In, Out};

/// A core on the link's ports.
pub struct Behind<C> {
    /// The core.
    pub core: C,
    /// Frames that the link gave to the MAC, and whether it marked them bad.
    pub mac_sent: Vec<(Vec<u8>, bool)>,
    pattern: u64,
    was_reset: bool,
    write_address: Option<u16>,
    write_data: Option<u32>,
    reads: VecDeque<u64>,
    to_core: Vec<u8>,
    to_mac: Vec<u8>,
    from_core: VecDeque<Beat>,
    from_mac: VecDeque<Beat>,
}

impl<C: Core> Behind<C> {
    pub(crate) fn new(core: C, seed: u64) -> Self {
        Self {
            core,
            mac_sent: Vec::new(),
            pattern: if seed.is_multiple_of(2) { 0 } else { seed },
            was_reset: false,
            write_address: None,
            write_data: None,
            reads: VecDeque::new(),
            to_core: Vec::new(),
            to_mac: Vec::new(),
            from_core: VecDeque::new(),
            from_mac: VecDeque::new(),
        }
    }

    /// A frame comes from the MAC.
    pub fn from_mac(&mut self, frame: &[u8]) {
        self.from_mac.extend(beats(frame));
    }

    /// False now and then, if the ports are disturbed (xorshift).
    pub(crate) fn go(&mut self) -> bool {
        if self.pattern == 0 {
            return true;
        }
        self.pattern ^= self.pattern << 13;
        self.pattern ^= self.pattern >> 7;
        self.pattern ^= self.pattern << 17;
        self.pattern & 3 != 0
    }

    /// One clock: what was driven and what the link drives give what is driven next.
    pub(crate) fn clock(&mut self, now: &In, out: &Out) -> In {
        let mut next = *now;
        if out.core_rst && !self.was_reset {
            self.core.reset();
        }
        self.was_reset = out.core_rst;
        self.registers(now, out, &mut next);
        self.memory(now, out, &mut next);
        self.network(now, out, &mut next);
        next.irq = self.core.interrupt();
        let action = self.core.act();
        next.commit_valid = action.is_some();
        let mut bytes = [0; 16];
        bytes[..14].copy_from_slice(&action.unwrap_or_default());
        for (word, bytes) in next.commit.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        next
    }

    fn registers(&mut self, now: &In, out: &Out, next: &mut In) {
        if out.core_rst {
            self.write_address = None;
            self.write_data = None;
            (next.bvalid, next.rvalid) = (false, false);
            return;
        }
        if now.awready && out.awvalid {
            self.write_address = Some(out.awaddr);
        }
        if now.wready && out.wvalid {
            assert_eq!(out.wstrb, 15, "a register is written whole");
            self.write_data = Some(out.wdata);
        }
        if now.bvalid && out.bready {
            next.bvalid = false;
        }
        if let (Some(address), Some(data)) = (self.write_address, self.write_data) {
            self.write_address = None;
            self.write_data = None;
            let result = self.core.write(address.into(), data);
            next.bvalid = result != Err(Fault::Silent);
            next.bresp = if result.is_ok() { 0 } else { 2 };
        }
        if now.rvalid && out.rready {
            next.rvalid = false;
        }
        if now.arready && out.arvalid {
            let result = self.core.read(out.araddr.into());
            next.rvalid = result != Err(Fault::Silent);
            next.rresp = if result.is_ok() { 0 } else { 2 };
            next.rdata = result.unwrap_or(0xDEAD_DEAD);
        }
        next.awready = self.go() && self.write_address.is_none();
        next.wready = self.go() && self.write_data.is_none();
        next.arready = self.go();
    }

    fn memory(&mut self, now: &In, out: &Out, next: &mut In) {
        if now.mem_ready && out.mem_valid {
            let start = out.mem_addr as usize;
            let place = &mut self.core.memory()[start..start + 8];
            if out.mem_write {
                let lanes = place.iter_mut().zip(out.mem_wdata.to_le_bytes());
                for (lane, (byte, new)) in lanes.enumerate() {
                    if out.mem_wstrb >> lane & 1 == 1 {
                        *byte = new;
                    }
                }
            } else {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(place);
                self.reads.push_back(u64::from_le_bytes(bytes));
            }
        }
        next.mem_ready = self.go();
        next.mem_rvalid = self.go() && !self.reads.is_empty();
        if next.mem_rvalid {
            next.mem_rdata = self.reads.pop_front().unwrap_or_default();
        }
    }

    fn network(&mut self, now: &In, out: &Out, next: &mut In) {
        if now.mac_tx_ready
            && out.mac_tx.valid
            && let Some(frame) = gather(&mut self.to_mac, &out.mac_tx)
        {
            self.mac_sent.push((frame, out.mac_tx.user));
        }
        next.mac_tx_ready = self.go();
        let taken = now.mac_rx.valid && out.mac_rx_ready;
        self.feed(taken, &mut next.mac_rx, |behind| &mut behind.from_mac);
        if out.core_rst {
            self.to_core.clear();
            self.from_core.clear();
            next.core_tx = Beat::default();
            return;
        }
        if now.core_rx_ready
            && out.core_rx.valid
            && let Some(frame) = gather(&mut self.to_core, &out.core_rx)
        {
            self.core.receive(&frame, out.core_rx.user);
        }
        next.core_rx_ready = self.go();
        while let Some(frame) = self.core.send() {
            self.from_core.extend(beats(&frame));
        }
        let taken = now.core_tx.valid && out.core_tx_ready;
        self.feed(taken, &mut next.core_tx, |behind| &mut behind.from_core);
    }

    /// Keeps a beat until it is taken, then puts the next one there.
    fn feed(
        &mut self,
        taken: bool,
        beat: &mut Beat,
        queue: impl Fn(&mut Self) -> &mut VecDeque<Beat>,
    ) {
        if !taken && beat.valid {
            return;
        }
        *beat = Beat::default();
        if self.go()
            && let Some(next) = queue(self).pop_front()
        {
            *beat = next;
        }
    }
}

/// Adds a beat to a frame, and gives the frame if that was its last.
fn gather(frame: &mut Vec<u8>, beat: &Beat) -> Option<Vec<u8>> {
    let bytes = beat.keep.count_ones() as usize;
    assert_eq!(
        u32::from(beat.keep) + 1,
        1 << bytes,
        "the lowest lanes are used"
    );
    frame.extend(&beat.data.to_le_bytes()[..bytes]);
    beat.last.then(|| std::mem::take(frame))
}

fn beats(frame: &[u8]) -> impl Iterator<Item = Beat> + '_ {
    let count = frame.len().div_ceil(8);
    frame.chunks(8).enumerate().map(move |(i, chunk)| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        Beat {
            valid: true,
            data: u64::from_le_bytes(bytes),
            keep: (0xFFu16 >> (8 - chunk.len())) as u8,
            last: i + 1 == count,
            user: false,
        }
    })
}
