//! Completion results.

use crate::abi::WqeOpcode;

use super::NtStatus;

/// Operation that completed; the values are bits (NDK-OPT-1, NDK-OPT-2).
#[doc(alias = "NDK_OPERATION_TYPE")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum OperationType {
    /// A receive.
    #[doc(alias = "NdkOperationTypeReceive")]
    #[default]
    Receive = 0x0001,
    /// A send, also one that invalidates (NDK-SINV-26).
    #[doc(alias = "NdkOperationTypeSend")]
    Send = 0x0002,
    /// A fast registration.
    #[doc(alias = "NdkOperationTypeFastRegister")]
    FastRegister = 0x0004,
    /// A bind.
    #[doc(alias = "NdkOperationTypeBind")]
    Bind = 0x0008,
    /// An invalidation.
    #[doc(alias = "NdkOperationTypeInvalidate")]
    Invalidate = 0x0010,
    /// A read.
    #[doc(alias = "NdkOperationTypeRead")]
    Read = 0x0020,
    /// A write.
    #[doc(alias = "NdkOperationTypeWrite")]
    Write = 0x0040,
    /// A receive consumed by a send that invalidated a token here.
    #[doc(alias = "NdkOperationTypeReceiveAndInvalidate")]
    ReceiveAndInvalidate = 0x8001,
}

impl OperationType {
    /// Whether the receive bit is set.
    pub const fn is_receive(self) -> bool {
        self as u32 & Self::Receive as u32 != 0
    }

    /// The type with which a request of the send queue completes.
    pub(super) fn of_opcode(opcode: WqeOpcode) -> Self {
        match opcode {
            WqeOpcode::Read => Self::Read,
            WqeOpcode::Write => Self::Write,
            WqeOpcode::Bind => Self::Bind,
            WqeOpcode::FastRegister => Self::FastRegister,
            WqeOpcode::Invalidate => Self::Invalidate,
            _ => Self::Send,
        }
    }
}

/// Result record of NdkGetCqResults, 24 bytes (NDK-RES-1).
#[doc(alias = "NDK_RESULT")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdkResult {
    /// Status of the request.
    pub status: NtStatus,
    /// Bytes of the message; receives only (NDK-RES-2), else 0 here.
    pub bytes_transferred: u32,
    /// Value given to NdkCreateQp (NDK-RES-4).
    pub qp_context: u64,
    /// Value given when the request was posted, bit for bit (NDK-READ-3).
    pub request_context: u64,
}

/// Result record of NdkGetCqResultsEx, 40 bytes, as of NDKPI 2.1 (NDK-RES-1).
#[doc(alias = "NDK_RESULT_EX")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdkResultEx {
    /// Status of the request.
    pub status: NtStatus,
    /// Bytes of the message; receives only (NDK-RES-2), else 0 here.
    pub bytes_transferred: u32,
    /// Value given to NdkCreateQp (NDK-RES-4).
    pub qp_context: u64,
    /// Value given when the request was posted, bit for bit (NDK-READ-3).
    pub request_context: u64,
    /// Operation that completed (NDK-RES-5).
    #[doc(alias = "Type")]
    pub operation: OperationType,
    /// 0 on success; on failure the NAK syndrome or the fault that the engine reports (NDK-RES-9, -10).
    /// 0 before NDKPI 2.1.
    #[doc(alias = "ProviderErrorCode")]
    pub provider_error_code: u32,
    /// [`OperationType::ReceiveAndInvalidate`]: the token that was invalidated, in the form in which the
    /// consumer got it as a [`RemoteToken`](super::RemoteToken), zero-extended (NDK-RES-6). Else 0 here.
    #[doc(alias = "TypeSpecificCompletionOutput")]
    pub type_specific_completion_output: u64,
}

impl Default for NdkResult {
    fn default() -> Self {
        NdkResultEx::default().into()
    }
}

impl Default for NdkResultEx {
    fn default() -> Self {
        Self {
            status: NtStatus::SUCCESS,
            bytes_transferred: 0,
            qp_context: 0,
            request_context: 0,
            operation: OperationType::default(),
            provider_error_code: 0,
            type_specific_completion_output: 0,
        }
    }
}

impl From<NdkResultEx> for NdkResult {
    fn from(result: NdkResultEx) -> Self {
        Self {
            status: result.status,
            bytes_transferred: result.bytes_transferred,
            qp_context: result.qp_context,
            request_context: result.request_context,
        }
    }
}
