//! Captures: what passed the network, as a file that Wireshark opens.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pcap_file::pcapng::PcapNgBlock;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
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

/// A pcapng file. What a node sent is on the interface of its name, with a comment if the network did anything to it; what
/// arrived otherwise than it was sent is on the interface `network`, once more. A clock counts as 8 ns.
pub struct Capture {
    network: u32,
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
        for node in nodes.iter().chain(&["network"]) {
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
            network: nodes.len() as u32,
            path: path.into(),
            writer,
        })
    }

    /// Writes a frame that a node sent, with what the network does to it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn sent(
        &mut self,
        node: usize,
        clock: u64,
        frame: &[u8],
        notes: &str,
    ) -> Result<(), CaptureError> {
        self.write(node as u32, clock, frame, notes.to_owned())
    }

    /// Writes a frame that arrives at a node otherwise than it was sent.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn arrived(
        &mut self,
        clock: u64,
        node: &str,
        frame: &[u8],
        notes: &str,
    ) -> Result<(), CaptureError> {
        let comment = format!("arrives at {node}: {notes}");
        self.write(self.network, clock, frame, comment)
    }

    fn write(
        &mut self,
        interface: u32,
        clock: u64,
        frame: &[u8],
        comment: String,
    ) -> Result<(), CaptureError> {
        let options = match comment.is_empty() {
            true => Vec::new(),
            false => vec![EnhancedPacketOption::Comment(comment.into())],
        };
        let packet = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: Duration::from_nanos(clock.saturating_mul(NANOSECONDS)),
            original_len: frame.len() as u32,
            data: Cow::Borrowed(frame),
            options,
        };
        let written = self.writer.write_block(&packet.into_block());
        written.map(|_| ()).map_err(|source| CaptureError {
            path: self.path.clone(),
            source,
        })
    }
}
