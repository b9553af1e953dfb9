//! Flag words of requests, registrations and the adapter, with the values of the headers.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

macro_rules! flags {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[doc = $doc:literal])+ $flag:ident = $value:literal, $alias:literal; )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// No flag.
            pub const NONE: Self = Self(0);
            $( $(#[doc = $doc])+ #[doc(alias = $alias)] pub const $flag: Self = Self($value); )+

            /// Every flag with a name, as (flag, name in the headers).
            pub const NAMED: &'static [(Self, &'static str)] = &[ $( (Self::$flag, $alias) ),+ ];

            /// Whether all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The bits of `self` that are not in `other`.
            #[must_use]
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            /// The flag with that name in the headers.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::NAMED.iter().find(|(_, known)| *known == name).map(|(flag, _)| *flag)
            }
        }

        impl BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.0)
            }
        }
    };
}

flags! {
    /// Flags of an initiator request. Bits foreign to the operation fail the call
    /// (`STATUS_INVALID_PARAMETER`, reading O6).
    OpFlags {
        /// No completion on success; one on failure.
        SILENT_SUCCESS = 0x001, "NDK_OP_FLAG_SILENT_SUCCESS";
        /// Starts after all earlier reads of the queue pair have completed.
        READ_FENCE = 0x002, "NDK_OP_FLAG_READ_FENCE";
        /// The peer's receive is a solicited one.
        SEND_AND_SOLICIT_EVENT = 0x004, "NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT";
        /// Remote read right (bind, fast registration).
        ALLOW_REMOTE_READ = 0x008, "NDK_OP_FLAG_ALLOW_REMOTE_READ";
        /// Local write right (fast registration).
        ALLOW_LOCAL_WRITE = 0x010, "NDK_OP_FLAG_ALLOW_LOCAL_WRITE";
        /// Remote write right (bind, fast registration): 0x20 with the local write bit.
        ALLOW_REMOTE_WRITE = 0x030, "NDK_OP_FLAG_ALLOW_REMOTE_WRITE";
        /// The bytes are taken during the call; tokens are ignored.
        INLINE = 0x040, "NDK_OP_FLAG_INLINE";
        /// The registration serves as a read sink (fast registration).
        RDMA_READ_SINK = 0x080, "NDK_OP_FLAG_RDMA_READ_SINK";
        /// A successful read invalidates the token of its first element. 0x100, not the 0x200 that a
        /// page prints (NDK-READ-14, C1).
        RDMA_READ_LOCAL_INVALIDATE = 0x100, "NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE";
        /// The hardware may be told later (NDK-DEFER-2).
        DEFER = 0x200, "NDK_OP_FLAG_DEFER";
    }
}

flags! {
    /// Flags of NdkRegisterMr (NDK-RMR-1). Values differ from those of [`OpFlags`].
    MrFlags {
        /// Local write right.
        ALLOW_LOCAL_WRITE = 0x1, "NDK_MR_FLAG_ALLOW_LOCAL_WRITE";
        /// Remote read right.
        ALLOW_REMOTE_READ = 0x2, "NDK_MR_FLAG_ALLOW_REMOTE_READ";
        /// Remote write right: 0x4 with the local write bit.
        ALLOW_REMOTE_WRITE = 0x5, "NDK_MR_FLAG_ALLOW_REMOTE_WRITE";
        /// Read sink. Taken as the local write right (reading O11), since none is required here.
        RDMA_READ_SINK = 0x8, "NDK_MR_FLAG_RDMA_READ_SINK";
    }
}

flags! {
    /// Flags of the adapter (NDK-CAP-11).
    AdapterFlags {
        /// The last byte of a buffer is never written before an earlier one.
        IN_ORDER_DMA_SUPPORTED = 0x1, "NDK_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED";
        /// Read sinks need no special registration.
        RDMA_READ_SINK_NOT_REQUIRED = 0x2, "NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED";
        /// NdkControlCqInterruptModeration works.
        CQ_INTERRUPT_MODERATION_SUPPORTED = 0x4, "NDK_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED";
        /// Several engines process connections in parallel.
        MULTI_ENGINE_SUPPORTED = 0x8, "NDK_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED";
        /// A read can invalidate the token of its first element.
        RDMA_READ_LOCAL_INVALIDATE_SUPPORTED = 0x10, "NDK_ADAPTER_FLAG_RDMA_READ_LOCAL_INVALIDATE_SUPPORTED";
        /// NdkResizeCq works.
        CQ_RESIZE_SUPPORTED = 0x100, "NDK_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED";
        /// Connections from an address to itself work.
        LOOPBACK_CONNECTIONS_SUPPORTED = 0x10000, "NDK_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED";
    }
}

/// What an armed completion queue fires on; strength is errors < solicited < any, not the numeric
/// order (NDK-ARM-1, NDK-CMPL-12 to -14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ArmType {
    /// Errors of the queue itself.
    #[doc(alias = "NDK_CQ_NOTIFY_ERRORS")]
    Errors = 0,
    /// The next completion.
    #[doc(alias = "NDK_CQ_NOTIFY_ANY")]
    Any = 1,
    /// The next receive of a solicited send, or completion with an error.
    #[doc(alias = "NDK_CQ_NOTIFY_SOLICITED")]
    Solicited = 2,
}

impl ArmType {
    /// The stronger of two arms.
    #[must_use]
    pub fn combine(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Solicited, _) | (_, Self::Solicited) => Self::Solicited,
            (Self::Errors, Self::Errors) => Self::Errors,
        }
    }
}
