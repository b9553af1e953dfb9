//! NTSTATUS and NDIS_STATUS values.

use std::fmt;

use super::NdkError;
use super::error::AdapterError;

/// A status code of the kernel interface.
///
/// Success is what `NT_SUCCESS` says, not the absence of `NT_ERROR`: codes of warning severity
/// (`0x8…`) are failures (NDK-POST, reading O30).
#[doc(alias = "NTSTATUS")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct NtStatus(pub u32);

macro_rules! statuses {
    ($( $name:ident = $value:literal, $ntname:literal; )+) => {
        impl NtStatus {
            $( #[doc = concat!("`", $ntname, "`, `", stringify!($value), "`.")]
               #[doc(alias = $ntname)]
               pub const $name: Self = Self($value); )+

            /// Every status with a name, as (status, name in the headers).
            pub const NAMED: &'static [(Self, &'static str)] = &[ $( (Self::$name, $ntname) ),+ ];
        }
    };
}

statuses! {
    SUCCESS = 0x0000_0000, "STATUS_SUCCESS";
    PENDING = 0x0000_0103, "STATUS_PENDING";
    BUFFER_OVERFLOW = 0x8000_0005, "STATUS_BUFFER_OVERFLOW";
    DEVICE_BUSY = 0x8000_0011, "STATUS_DEVICE_BUSY";
    NO_MORE_ENTRIES = 0x8000_001A, "STATUS_NO_MORE_ENTRIES";
    UNSUCCESSFUL = 0xC000_0001, "STATUS_UNSUCCESSFUL";
    ACCESS_VIOLATION = 0xC000_0005, "STATUS_ACCESS_VIOLATION";
    INVALID_PARAMETER = 0xC000_000D, "STATUS_INVALID_PARAMETER";
    INVALID_DEVICE_REQUEST = 0xC000_0010, "STATUS_INVALID_DEVICE_REQUEST";
    BUFFER_TOO_SMALL = 0xC000_0023, "STATUS_BUFFER_TOO_SMALL";
    INVALID_PARAMETER_MIX = 0xC000_0030, "STATUS_INVALID_PARAMETER_MIX";
    DATA_OVERRUN = 0xC000_003C, "STATUS_DATA_OVERRUN";
    SHARING_VIOLATION = 0xC000_0043, "STATUS_SHARING_VIOLATION";
    INSUFFICIENT_RESOURCES = 0xC000_009A, "STATUS_INSUFFICIENT_RESOURCES";
    IO_TIMEOUT = 0xC000_00B5, "STATUS_IO_TIMEOUT";
    NOT_SUPPORTED = 0xC000_00BB, "STATUS_NOT_SUPPORTED";
    INTERNAL_ERROR = 0xC000_00E5, "STATUS_INTERNAL_ERROR";
    CANCELLED = 0xC000_0120, "STATUS_CANCELLED";
    REMOTE_RESOURCES = 0xC000_013D, "STATUS_REMOTE_RESOURCES";
    INVALID_ADDRESS = 0xC000_0141, "STATUS_INVALID_ADDRESS";
    INVALID_DEVICE_STATE = 0xC000_0184, "STATUS_INVALID_DEVICE_STATE";
    INVALID_BUFFER_SIZE = 0xC000_0206, "STATUS_INVALID_BUFFER_SIZE";
    TOO_MANY_ADDRESSES = 0xC000_0209, "STATUS_TOO_MANY_ADDRESSES";
    ADDRESS_ALREADY_EXISTS = 0xC000_020A, "STATUS_ADDRESS_ALREADY_EXISTS";
    CONNECTION_REFUSED = 0xC000_0236, "STATUS_CONNECTION_REFUSED";
    CONNECTION_INVALID = 0xC000_023A, "STATUS_CONNECTION_INVALID";
    CONNECTION_ACTIVE = 0xC000_023B, "STATUS_CONNECTION_ACTIVE";
    NETWORK_UNREACHABLE = 0xC000_023C, "STATUS_NETWORK_UNREACHABLE";
    HOST_UNREACHABLE = 0xC000_023D, "STATUS_HOST_UNREACHABLE";
    CONNECTION_ABORTED = 0xC000_0241, "STATUS_CONNECTION_ABORTED";
    DEVICE_REMOVED = 0xC000_02B6, "STATUS_DEVICE_REMOVED";
    IMPLEMENTATION_LIMIT = 0xC000_042B, "STATUS_IMPLEMENTATION_LIMIT";
    NDIS_NOT_ACCEPTED = 0x0001_0003, "NDIS_STATUS_NOT_ACCEPTED";
    NDIS_BAD_VERSION = 0xC001_0004, "NDIS_STATUS_BAD_VERSION";
    NDIS_ADAPTER_NOT_READY = 0xC001_0011, "NDIS_STATUS_ADAPTER_NOT_READY";
    NDIS_INVALID_LENGTH = 0xC001_0014, "NDIS_STATUS_INVALID_LENGTH";
    NDIS_INVALID_DATA = 0xC001_0015, "NDIS_STATUS_INVALID_DATA";
    NDIS_BUFFER_TOO_SHORT = 0xC001_0016, "NDIS_STATUS_BUFFER_TOO_SHORT";
    NDIS_INVALID_OID = 0xC001_0017, "NDIS_STATUS_INVALID_OID";
}

impl NtStatus {
    /// `NT_SUCCESS`: the code as a signed number is not negative.
    #[doc(alias = "NT_SUCCESS")]
    pub const fn is_success(self) -> bool {
        self.0 >> 31 == 0
    }

    /// `NT_ERROR`: severity 3.
    #[doc(alias = "NT_ERROR")]
    pub const fn is_error(self) -> bool {
        self.0 >> 30 == 3
    }

    /// The name in the headers, if the code has one here.
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED
            .iter()
            .find(|(status, _)| *status == self)
            .map(|(_, name)| *name)
    }

    /// The status with that name in the headers.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(status, _)| *status)
    }

    /// The status that a call returned: what a consumer of NDKPI would see. An adapter that broke down
    /// has no status; it is the error.
    pub fn of<T>(outcome: &Result<T, NdkError>) -> Result<Self, &AdapterError> {
        match outcome {
            Ok(_) => Ok(Self::SUCCESS),
            Err(NdkError::Status(status)) => Ok(*status),
            Err(NdkError::StaleHandle { .. }) => Ok(Self::INVALID_PARAMETER),
            Err(NdkError::Adapter(error)) => Err(error),
        }
    }
}

impl fmt::Display for NtStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({:#010x})", self.0),
            None => write!(f, "NTSTATUS {:#010x}", self.0),
        }
    }
}

impl fmt::Debug for NtStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
