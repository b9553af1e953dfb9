//! Read bursts at the ports of an engine.

/// Bytes of a data beat on AXI4 and AXI4-Stream.
pub const BEAT: usize = 8;

/// One burst, as it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBurst {
    /// ARID.
    pub id: u8,
    /// Address of the first beat.
    pub address: u64,
    /// The bytes of all beats.
    pub bytes: Vec<u8>,
    /// Whether memory has no such address (SLVERR).
    pub error: bool,
    /// Clock in which its address was taken.
    pub asked: u64,
}
