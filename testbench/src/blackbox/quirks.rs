//! Ways of Linux soft-RoCE (kernel 6.1) that break a requirement, and that a check lists apart.

/// A known way.
#[derive(Debug, PartialEq, Eq)]
pub struct Quirk {
    /// Its name in reports.
    pub name: &'static str,
    /// What Linux does.
    pub about: &'static str,
}

/// A NAK 0x60 behind an RNR NAK.
pub static NAK_AFTER_RNR: Quirk = Quirk {
    name: "nak-after-rnr",
    about: "the responder sends NAK 0x60 for the PSN of its RNR NAK when the next packet comes",
};

/// Requests during an RNR wait.
pub static SENDS_DURING_RNR: Quirk = Quirk {
    name: "sends-during-rnr",
    about: "the requester sends what is posted during an RNR wait at once",
};

/// Retries without end.
pub static ENDLESS_RETRIES: Quirk = Quirk {
    name: "endless-retries",
    about: "a retry count of 7 never expires",
};

/// An answer to the rest of a read that goes on as the first one.
pub static REST_CONTINUES: Quirk = Quirk {
    name: "rest-continues",
    about: "the rest of a read is answered by Middle and Last, not as a message of its own",
};

/// A refused invalidation that is acknowledged.
pub static REFUSAL_ACKNOWLEDGED: Quirk = Quirk {
    name: "refusal-acknowledged",
    about: "a refused SEND with Invalidate is acknowledged without being counted in the MSN",
};

/// Frames below the Ethernet minimum.
pub static NOT_FILLED: Quirk = Quirk {
    name: "not-filled",
    about: "a capture on the host shows short frames before the adapter fills them to 60 bytes",
};

/// An acknowledge request in a management datagram.
pub static MAD_ASKS: Quirk = Quirk {
    name: "mad-asks",
    about: "management datagrams ask for an acknowledgement that the service does not have",
};

/// All of them.
pub static QUIRKS: [&Quirk; 7] = [
    &NAK_AFTER_RNR,
    &SENDS_DURING_RNR,
    &ENDLESS_RETRIES,
    &REST_CONTINUES,
    &REFUSAL_ACKNOWLEDGED,
    &NOT_FILLED,
    &MAD_ASKS,
];
