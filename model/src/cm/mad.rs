//! Management datagrams: a header of 24 bytes before a message of 232.

use super::record::{Part, bytes, record};
use super::{CmError, Drep, Dreq, Mra, Rej, Rep, Req, Rtu};

/// Length of every management datagram in bytes (WIRE-CM-1).
pub const MAD_LEN: usize = 256;

record! {
    /// Header of a management datagram. Status and reserved bytes are not looked at.
    MadHeader, "MAD", 24 bytes {
        /// 1.
        base_version: u8 = [bytes(0, 1)];
        /// Management class; 7 is communication management.
        class: u8 = [bytes(1, 1)];
        /// Version of the class, 2.
        class_version: u8 = [bytes(2, 1)];
        /// 3, Send, for all messages.
        method: u8 = [bytes(3, 1)];
        /// Tells exchanges apart.
        transaction_id: u64 = [bytes(8, 8)];
        /// Which message it is.
        attribute_id: u16 = [bytes(16, 2)];
        /// Option of enhanced connection establishment, 0.
        attribute_modifier: u32 = [bytes(20, 4)];
    }
}

macro_rules! messages {
    ($( $name:ident = $attribute:literal, )+) => {
        /// A message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Message {
            $( #[doc = concat!("[`", stringify!($name), "`], attribute `", stringify!($attribute), "`.")]
               $name($name), )+
        }

        impl Message {
            /// Its attribute id.
            pub const fn attribute_id(&self) -> u16 {
                match self {
                    $( Self::$name(_) => $attribute, )+
                }
            }

            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self {
                    $( Self::$name(_) => stringify!($name), )+
                }
            }

            fn parse(attribute: u16, bytes: &[u8]) -> Result<Self, CmError> {
                match attribute {
                    $( $attribute => Ok(Self::$name($name::parse_part(bytes)?)), )+
                    other => Err(misfit("attribute_id", other.into())),
                }
            }

            fn emit(&self, bytes: &mut [u8]) {
                match self {
                    $( Self::$name(message) => message.emit_part(bytes), )+
                }
            }
        }

        $( impl From<$name> for Message {
            fn from(message: $name) -> Self {
                Self::$name(message)
            }
        } )+
    };
}

messages! {
    Req = 0x0010,
    Mra = 0x0011,
    Rej = 0x0012,
    Rep = 0x0013,
    Rtu = 0x0014,
    Dreq = 0x0015,
    Drep = 0x0016,
}

/// A management datagram of connection management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mad {
    /// Tells exchanges apart: that of the message answered, or a new one.
    pub transaction_id: u64,
    /// Option of enhanced connection establishment, 0.
    pub attribute_modifier: u32,
    /// The message.
    pub message: Message,
}

impl Mad {
    /// A datagram without options.
    pub fn new(transaction_id: u64, message: impl Into<Message>) -> Self {
        Self {
            transaction_id,
            attribute_modifier: 0,
            message: message.into(),
        }
    }

    /// Takes a datagram apart. Never panics, whatever the bytes.
    ///
    /// # Errors
    /// [`CmError::Length`] unless there are 256 bytes; [`CmError::Field`] of the first field that is not what
    /// connection management has there (WIRE-CM-1).
    pub fn parse(bytes: &[u8]) -> Result<Self, CmError> {
        let (header, body) = match bytes.split_at_checked(MadHeader::LEN) {
            Some(parts) if bytes.len() == MAD_LEN => parts,
            _ => {
                return Err(CmError::Length {
                    length: bytes.len(),
                });
            }
        };
        let header = MadHeader::parse_part(header)?;
        let fixed = [
            ("base_version", header.base_version, BASE_VERSION),
            ("class", header.class, CLASS),
            ("class_version", header.class_version, CLASS_VERSION),
            ("method", header.method, METHOD_SEND),
        ];
        if let Some((field, value, _)) = fixed.into_iter().find(|(_, is, must)| is != must) {
            return Err(misfit(field, value.into()));
        }
        Ok(Self {
            transaction_id: header.transaction_id,
            attribute_modifier: header.attribute_modifier,
            message: Message::parse(header.attribute_id, body)?,
        })
    }

    /// Its bytes.
    pub fn emit(&self) -> [u8; MAD_LEN] {
        let mut bytes = [0; MAD_LEN];
        let (header, body) = bytes.split_at_mut(MadHeader::LEN);
        MadHeader {
            base_version: BASE_VERSION,
            class: CLASS,
            class_version: CLASS_VERSION,
            method: METHOD_SEND,
            transaction_id: self.transaction_id,
            attribute_id: self.message.attribute_id(),
            attribute_modifier: self.attribute_modifier,
        }
        .emit_part(header);
        self.message.emit(body);
        bytes
    }
}

const BASE_VERSION: u8 = 1;
const CLASS: u8 = 7;
const CLASS_VERSION: u8 = 2;
const METHOD_SEND: u8 = 3;

fn misfit(field: &'static str, value: u128) -> CmError {
    CmError::Field {
        record: "MAD",
        field,
        value,
    }
}
