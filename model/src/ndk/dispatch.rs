//! Dispatch tables: which functions an object has, in the order in which they lie in memory.
//!
//! Here an object's functions are methods of [`Provider`](super::Provider) that take its handle; each has the name that it
//! has in these tables as an alias in its documentation.

use super::{NdkObjectType, NdkVersion};

/// Bytes of an entry.
const POINTER: usize = 8;

/// A function of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchEntry {
    /// Its name.
    pub name: &'static str,
    /// First version that has it.
    pub since: NdkVersion,
}

/// The functions of one kind of object, 8 bytes each.
#[derive(Debug, PartialEq, Eq)]
pub struct DispatchTable {
    /// Name of its type.
    pub name: &'static str,
    /// Kind of its objects.
    pub object_type: NdkObjectType,
    /// The functions; later versions add theirs at the end.
    pub entries: &'static [DispatchEntry],
}

impl DispatchTable {
    /// The tables of all kinds of objects.
    pub const ALL: &'static [Self] = &TABLES;

    /// The table of objects of a kind.
    pub fn of(object_type: NdkObjectType) -> &'static Self {
        const NONE: DispatchTable = DispatchTable {
            name: "",
            object_type: NdkObjectType::Undefined,
            entries: &[],
        };
        let found = TABLES.iter().find(|table| table.object_type == object_type);
        found.unwrap_or(&NONE)
    }

    /// Its bytes in a version.
    pub fn size(&self, version: NdkVersion) -> usize {
        let there = self.entries.iter().filter(|entry| entry.since <= version);
        there.count() * POINTER
    }

    /// Byte offset of a function.
    pub fn offset(&self, function: &str) -> Option<usize> {
        let place = self.entries.iter().position(|entry| entry.name == function);
        place.map(|place| place * POINTER)
    }
}

const fn entry(name: &'static str) -> DispatchEntry {
    since(NdkVersion::V1_1, name)
}

const fn since(since: NdkVersion, name: &'static str) -> DispatchEntry {
    DispatchEntry { name, since }
}

macro_rules! tables {
    ($( $name:literal $object_type:ident: $( $function:literal $( ($version:ident) )? ),+ ; )+) => {
        static TABLES: [DispatchTable; [$( $name ),+].len()] = [ $( DispatchTable {
            name: $name,
            object_type: NdkObjectType::$object_type,
            entries: &[ $( tables!(@entry $function $( $version )?) ),+ ],
        } ),+ ];
    };
    (@entry $function:literal) => { entry($function) };
    (@entry $function:literal $version:ident) => { since(NdkVersion::$version, $function) };
}

tables! {
    "NDK_ADAPTER_DISPATCH" Adapter:
        "NdkQueryExtension", "NdkQueryAdapterInfo", "NdkCreateCq", "NdkCreatePd", "NdkCreateSharedEndpoint",
        "NdkCreateConnector", "NdkCreateListener", "NdkBuildLAM", "NdkReleaseLAM";
    "NDK_PD_DISPATCH" Pd:
        "NdkClosePd", "NdkQueryExtension", "NdkCreateMr", "NdkCreateMw", "NdkCreateSrq", "NdkCreateQp",
        "NdkCreateQpWithSrq", "NdkGetPrivilegedMemoryRegionToken";
    "NDK_CQ_DISPATCH" Cq:
        "NdkCloseCq", "NdkQueryExtension", "NdkResizeCq", "NdkArmCq", "NdkGetCqResults",
        "NdkControlCqInterruptModeration", "NdkGetCqResultsEx" (V1_2);
    "NDK_QP_DISPATCH" Qp:
        "NdkCloseQp", "NdkQueryExtension", "NdkFlush", "NdkSend", "NdkReceive", "NdkBind", "NdkFastRegister",
        "NdkInvalidate", "NdkRead", "NdkWrite", "NdkSendAndInvalidate" (V1_2);
    "NDK_SRQ_DISPATCH" Srq:
        "NdkCloseSrq", "NdkQueryExtension", "NdkModifySrq", "NdkSrqReceive";
    "NDK_MR_DISPATCH" Mr:
        "NdkCloseMr", "NdkQueryExtension", "NdkRegisterMr", "NdkDeregisterMr", "NdkInitializeFastRegisterMr",
        "NdkGetRemoteTokenFromMr", "NdkGetLocalTokenFromMr";
    "NDK_MW_DISPATCH" Mw:
        "NdkCloseMw", "NdkQueryExtension", "NdkGetRemoteTokenFromMw";
    "NDK_LISTENER_DISPATCH" Listener:
        "NdkCloseListener", "NdkQueryExtension", "NdkListen", "NdkGetLocalAddress", "NdkControlConnectEvents";
    "NDK_SHARED_ENDPOINT_DISPATCH" SharedEndpoint:
        "NdkCloseSharedEndpoint", "NdkQueryExtension", "NdkGetLocalAddress";
    "NDK_CONNECTOR_DISPATCH" Connector:
        "NdkCloseConnector", "NdkQueryExtension", "NdkConnect", "NdkConnectWithSharedEndpoint",
        "NdkCompleteConnect", "NdkAccept", "NdkReject", "NdkGetConnectionData", "NdkGetLocalAddress",
        "NdkGetPeerAddress", "NdkDisconnect", "NdkCompleteConnectEx" (V2_1), "NdkAcceptEx" (V2_1);
}
