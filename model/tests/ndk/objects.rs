//! Public parts of objects, and dispatch tables.

use std::fs;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};

use tandem_model::abi::{Status, WqeOpcode};
use tandem_model::ndk::{
    DispatchTable, MrUse, NdkObject, NdkObjectHeader, NdkObjectType, NdkVersion, NtStatus, Object,
    OpFlags, Provider, QpParameters,
};

use crate::fake::{Bed, Fake, cqe, srq_parameters};

const V1_1: NdkVersion = NdkVersion::V1_1;
const V1_2: NdkVersion = NdkVersion::V1_2;
const V2_1: NdkVersion = NdkVersion::V2_1;

// Covers: NDK-HDR-2
#[test]
fn ndk_hdr_layout() {
    assert_eq!(size_of::<NdkObjectHeader>(), 40);
    assert_eq!(
        [
            offset_of!(NdkObjectHeader, version),
            offset_of!(NdkObjectHeader, object_type),
            offset_of!(NdkObjectHeader, reserved),
        ],
        [0, 4, 8]
    );
    assert_eq!(size_of::<NdkVersion>(), 4);
    assert_eq!(
        [offset_of!(NdkVersion, major), offset_of!(NdkVersion, minor)],
        [0, 2]
    );
    assert_eq!(size_of::<NdkObject>(), 48);
    assert_eq!(
        [
            offset_of!(NdkObject, header),
            offset_of!(NdkObject, dispatch)
        ],
        [0, 40]
    );
    use NdkObjectType as T;
    let types = [
        T::Undefined,
        T::Adapter,
        T::Qp,
        T::Cq,
        T::Mr,
        T::Mw,
        T::Pd,
        T::SharedEndpoint,
        T::Connector,
        T::Listener,
        T::Srq,
    ];
    assert_eq!(types.map(|t| t as u32), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

/// One object of each kind.
fn objects(bed: &mut Bed) -> [(Object, NdkObjectType); 6] {
    let srq = bed.nic.create_srq(bed.pd, &srq_parameters()).unwrap();
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let mw = bed.nic.create_mw(bed.pd).unwrap();
    [
        (Object::Pd(bed.pd), NdkObjectType::Pd),
        (Object::Cq(bed.cq), NdkObjectType::Cq),
        (Object::Qp(bed.qp), NdkObjectType::Qp),
        (Object::Srq(srq), NdkObjectType::Srq),
        (Object::Mr(mr), NdkObjectType::Mr),
        (Object::Mw(mw), NdkObjectType::Mw),
    ]
}

/// Requests, results and lives of neighbours.
fn use_objects(nic: &mut Provider<Fake>, bed: (Object, Object, Object), qpn: u32) {
    let (Object::Pd(pd), Object::Cq(cq), Object::Qp(qp)) = bed else {
        panic!("{bed:?}");
    };
    for index in 0..3 {
        nic.send(qp, 1, &[], OpFlags::NONE).unwrap();
        let sent = cqe(qpn, index, WqeOpcode::Send, Status::Success);
        nic.hal_mut().complete(0, sent);
        assert_eq!(nic.poll_cq(cq).unwrap().len(), 1);
    }
    let other = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
    nic.close_qp(other).unwrap();
    nic.flush(qp).unwrap();
}

// Covers: NDK-HDR-1, NDK-HDR-2, NDK-HDR-3, NDK-HDR-4
#[test]
fn ndk_hdr_3_public_parts_are_the_consumers() {
    let mut bed = Bed::new();
    let objects = objects(&mut bed);
    // Whatever the consumer's side makes of them, they work and stay.
    let foreign = DispatchTable::of(NdkObjectType::Listener);
    for (object, object_type) in objects {
        let public = *bed.nic.object(object).unwrap();
        let expected = NdkObjectHeader {
            version: V2_1,
            object_type,
            reserved: [0; 4],
        };
        assert_eq!(public.header, expected);
        assert_eq!(public.dispatch.object_type, object_type);
        let public = bed.nic.object_mut(object).unwrap();
        public.header.reserved = [u64::MAX, 2, 3, 4];
        public.dispatch = foreign;
    }
    let [pd, cq, qp, ..] = objects.map(|(object, _)| object);
    use_objects(&mut bed.nic, (pd, cq, qp), bed.qpn);
    for (object, object_type) in objects {
        let public = bed.nic.object(object).unwrap();
        assert_eq!(public.header.reserved, [u64::MAX, 2, 3, 4]);
        assert_eq!(public.header.object_type, object_type);
        assert!(std::ptr::eq(public.dispatch, foreign));
    }
    // A new one begins anew.
    let Object::Mw(mw) = objects[5].0 else {
        panic!("{objects:?}");
    };
    bed.nic.close_mw(mw).unwrap();
    assert!(bed.nic.object(Object::Mw(mw)).is_err());
    let mw = bed.nic.create_mw(bed.pd).unwrap();
    let public = bed.nic.object(Object::Mw(mw)).unwrap();
    assert_eq!(public.header.reserved, [0; 4]);
    assert_eq!(public.dispatch.object_type, NdkObjectType::Mw);
}

#[test]
fn there_are_no_extensions() {
    let mut bed = Bed::new();
    for (object, _) in objects(&mut bed) {
        let outcome = bed.nic.query_extension(object, [0x5A; 16], V1_1);
        assert_eq!(outcome, Err(NtStatus::NOT_SUPPORTED.into()));
    }
}

/// Sizes of the tables, and some places in them that are easily got wrong.
#[test]
fn dispatch_tables() {
    let sizes: Vec<_> = DispatchTable::ALL
        .iter()
        .map(|table| {
            let size = |version| table.size(version);
            (table.name, size(V1_1), size(V1_2), size(V2_1))
        })
        .collect();
    assert_eq!(
        sizes,
        [
            ("NDK_ADAPTER_DISPATCH", 0x48, 0x48, 0x48),
            ("NDK_PD_DISPATCH", 0x40, 0x40, 0x40),
            ("NDK_CQ_DISPATCH", 0x30, 0x38, 0x38),
            ("NDK_QP_DISPATCH", 0x50, 0x58, 0x58),
            ("NDK_SRQ_DISPATCH", 0x20, 0x20, 0x20),
            ("NDK_MR_DISPATCH", 0x38, 0x38, 0x38),
            ("NDK_MW_DISPATCH", 0x18, 0x18, 0x18),
            ("NDK_LISTENER_DISPATCH", 0x28, 0x28, 0x28),
            ("NDK_SHARED_ENDPOINT_DISPATCH", 0x18, 0x18, 0x18),
            ("NDK_CONNECTOR_DISPATCH", 0x58, 0x58, 0x68),
        ]
    );
    let offset = |object_type, name| DispatchTable::of(object_type).offset(name);
    use NdkObjectType as T;
    assert_eq!(offset(T::Mr, "NdkGetRemoteTokenFromMr"), Some(0x28));
    assert_eq!(offset(T::Mr, "NdkGetLocalTokenFromMr"), Some(0x30));
    assert_eq!(offset(T::Qp, "NdkSendAndInvalidate"), Some(0x50));
    assert_eq!(offset(T::Connector, "NdkCompleteConnectEx"), Some(0x58));
    assert_eq!(offset(T::Connector, "NdkAcceptEx"), Some(0x60));
    assert_eq!(offset(T::Adapter, "NdkQueryExtension"), Some(0));
    assert_eq!(offset(T::Adapter, "NdkClosePd"), None);
    assert_eq!(DispatchTable::of(T::Undefined).size(V2_1), 0);
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Each function of the tables is the alias of a public method.
#[test]
fn every_function_has_a_method() {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ndk");
    sources(&root, &mut files);
    let text: String = files
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let has_method = |name: &str| {
        let alias = format!("#[doc(alias = \"{name}\")]");
        text.split(&alias).skip(1).any(|after| {
            let mut lines = after.lines().map(str::trim);
            let next = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
            next.is_some_and(|line| line.starts_with("pub fn "))
        })
    };
    let missing: Vec<&str> = DispatchTable::ALL
        .iter()
        .flat_map(|table| table.entries)
        .map(|entry| entry.name)
        .filter(|name| !has_method(name))
        .collect();
    assert_eq!(missing, [""; 0]);
}
