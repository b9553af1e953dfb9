//! Captures: what passed the network, as a file that Wireshark opens.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pcap_file::pcapng::PcapNgBlock;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use thiserror::Error;

/// A capture that cannot be written.
#[derive(Debug, Error)]
#[error("cannot write the capture {}", path.display())]
pub struct CaptureError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: PcapError,
}

/// Nanoseconds of a clock: 125 MHz.
const NANOSECONDS: u64 = 8;
/// if_tsresol: 10^-9 s.
const RESOLUTION: u8 = 9;

/// A pcapng file with one interface for each node. A clock counts as 8 ns.
pub struct Capture {
    path: PathBuf,
    writer: PcapNgWriter<Box<dyn Write>>,
}

impl Capture {
    /// Opens a file for the frames of these nodes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, nodes: &[&str]) -> Result<Self, CaptureError> {
        let failed = |source| CaptureError {
            path: path.into(),
            source,
        };
        let file = File::create(path).map_err(|error| failed(PcapError::IoError(error)))?;
        let file: Box<dyn Write> = Box::new(BufWriter::new(file));
        let mut writer = PcapNgWriter::new(file).map_err(failed)?;
        for node in nodes {
            let interface = InterfaceDescriptionBlock {
                linktype: DataLink::ETHERNET,
                snaplen: 0,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(node)),
                    InterfaceDescriptionOption::IfTsResol(RESOLUTION),
                ],
            };
            writer
                .write_block(&interface.into_block())
                .map_err(failed)?;
        }
        Ok(Self {
            path: path.into(),
            writer,
        })
    }

    /// Writes a frame that a node sent.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn frame(&mut self, node: usize, clock: u64, frame: &[u8]) -> Result<(), CaptureError> {
        let packet = EnhancedPacketBlock {
            interface_id: node as u32,
            timestamp: Duration::from_nanos(clock.saturating_mul(NANOSECONDS)),
            original_len: frame.len() as u32,
            data: Cow::Borrowed(frame),
            options: Vec::new(),
        };
        let written = self.writer.write_block(&packet.into_block());
        written.map(|_| ()).map_err(|source| CaptureError {
            path: self.path.clone(),
            source,
        })
    }
}
