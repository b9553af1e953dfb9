//! Regions and tokens.

use tandem_model::abi::Table;
use tandem_model::ndk::{
    LocalToken, Mdl, MrFlags, MrUse, NdkError, NtStatus, PAGE_SIZE, RemoteToken,
};

use crate::fake::Bed;

const VA: u64 = 0x7F00_0000_0000;

fn mdl(byte_offset: u32, byte_count: u32, pages: &[u64]) -> Mdl {
    Mdl {
        virtual_address: VA + u64::from(byte_offset),
        byte_offset,
        byte_count,
        pages: pages.iter().map(|page| page * PAGE_SIZE).collect(),
    }
}

fn register(bed: &mut Bed, mdl: &[Mdl], length: u64, flags: MrFlags) -> Result<(), NdkError> {
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    bed.nic.register_mr(mr, mdl, length, flags)
}

#[test]
fn ndk_rmr_entry_and_pages() {
    let mut bed = Bed::new();
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let pages: Vec<u64> = (0..19).map(|i| 0x900 - 3 * i).collect();
    let chain = [mdl(0x123, 19 * 4096 - 0x123, &pages)];
    let length = 18 * 4096;
    bed.nic
        .register_mr(mr, &chain, length, MrFlags::ALLOW_REMOTE_READ)
        .unwrap();
    let hal = bed.nic.hal();
    assert_eq!(hal.page_commands, [8, 8, 3]);
    let written: Vec<u64> = hal.pages.values().map(|page| page / PAGE_SIZE).collect();
    assert_eq!(written, pages);
    let token = bed.nic.local_token_from_mr(mr).unwrap();
    assert_eq!(
        token,
        LocalToken(0x201),
        "index 1 is the privileged token's"
    );
    let entry = hal.entry(Table::Token, 2);
    let fields = [
        "valid",
        "kind",
        "local_write",
        "remote_read",
        "remote_write",
        "key",
        "pd",
        "first_page",
        "base_address",
        "length",
        "page_offset",
    ];
    assert_eq!(
        fields.map(|field| entry.get(field) as u64),
        [1, 0, 0, 1, 0, 1, 1, 0, VA + 0x123, length, 0x123]
    );
}

#[test]
fn ndk_read_9_remote_token_is_the_swapped_number() {
    let mut bed = Bed::new();
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    bed.nic
        .register_mr(mr, &[mdl(0, 4096, &[5])], 4096, MrFlags::NONE)
        .unwrap();
    assert_eq!(bed.nic.local_token_from_mr(mr), Ok(LocalToken(0x0000_0201)));
    assert_eq!(
        bed.nic.remote_token_from_mr(mr),
        Ok(RemoteToken(0x0102_0000))
    );
}

// Covers: NDK-RMR-1, NDK-RMR-6
#[test]
fn ndk_rmr_1_rights() {
    let mut bed = Bed::new();
    let cases = [
        (0x0, Some((0, 0, 0))),
        (0x1, Some((1, 0, 0))),
        (0x2, Some((0, 1, 0))),
        (0x5, Some((1, 0, 1))),
        (0x7, Some((1, 1, 1))),
        // NDK-RMR-6, reading O11.
        (0x8, Some((1, 0, 0))),
        (0xF, Some((1, 1, 1))),
        // The remote write bit without the local write bit; a foreign bit.
        (0x4, None),
        (0x10, None),
    ];
    for (flags, expected) in cases {
        let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
        let chain = [mdl(0, 4096, &[5])];
        let outcome = bed.nic.register_mr(mr, &chain, 4096, MrFlags(flags));
        let Some(rights) = expected else {
            assert_eq!(
                outcome,
                Err(NtStatus::INVALID_PARAMETER.into()),
                "{flags:#x}"
            );
            continue;
        };
        outcome.unwrap();
        let index = bed.nic.local_token_from_mr(mr).unwrap().0 >> 8;
        let entry = bed.nic.hal().entry(Table::Token, index);
        let got = ["local_write", "remote_read", "remote_write"].map(|right| entry.get(right));
        assert_eq!(got, [rights.0, rights.1, rights.2], "{flags:#x}");
    }
}

// Covers: NDK-RMR-2
#[test]
fn ndk_rmr_2_chains() {
    let mut bed = Bed::new();
    let invalid = Err(NtStatus::INVALID_PARAMETER.into());
    // Two pieces that meet inside a page share that page.
    let first = mdl(0x800, 0x1000, &[5, 6]);
    let second = |page| Mdl {
        virtual_address: VA + 0x1800,
        byte_offset: 0x800,
        byte_count: 0x1000,
        pages: vec![page * PAGE_SIZE, 7 * PAGE_SIZE],
    };
    register(&mut bed, &[first.clone(), second(6)], 0x2000, MrFlags::NONE).unwrap();
    let pages: Vec<u64> = bed.nic.hal().pages.values().map(|p| p / 4096).collect();
    assert_eq!(pages, [5, 6, 7]);
    let bad = [
        // Not the same page where they meet.
        (vec![first.clone(), second(9)], 0x2000),
        // Other offsets than the addresses say.
        (
            vec![
                first.clone(),
                Mdl {
                    byte_offset: 0x400,
                    ..second(6)
                },
            ],
            0x2000,
        ),
        // A gap.
        (
            vec![
                first.clone(),
                Mdl {
                    virtual_address: VA + 0x2800,
                    ..second(6)
                },
            ],
            0x2000,
        ),
        // Longer than the chain; length 0 (reading O23); no chain.
        (vec![first.clone(), second(6)], 0x2001),
        (vec![first.clone()], 0),
        (vec![], 1),
        // Fewer pages than bytes; offset beyond the page; a page not aligned; wraps.
        (vec![mdl(0, 0x1001, &[5])], 1),
        (vec![mdl(0x1000, 1, &[5, 6])], 1),
        (
            vec![Mdl {
                pages: vec![0x5001],
                ..mdl(0, 4096, &[])
            }],
            1,
        ),
        (
            vec![Mdl {
                virtual_address: u64::MAX - 4094,
                ..mdl(0, 4096, &[5])
            }],
            4096,
        ),
    ];
    for (chain, length) in bad {
        let outcome = register(&mut bed, &chain, length, MrFlags::NONE);
        assert_eq!(outcome, invalid, "{chain:?}, {length}");
    }
    // Pieces that meet between pages share none; pages beyond the length are left out.
    let aligned = |page: u64| Mdl {
        virtual_address: VA + 4096 * page,
        ..mdl(0, 4096, &[0x50 + page])
    };
    let chain: Vec<Mdl> = (0..4).map(aligned).collect();
    let before = bed.nic.hal().pages.len();
    register(&mut bed, &chain, 0x2001, MrFlags::NONE).unwrap();
    let pages = bed.nic.hal().pages.values().skip(before);
    assert_eq!(
        pages.map(|p| p / 4096).collect::<Vec<_>>(),
        [0x50, 0x51, 0x52]
    );
    let before = bed.nic.hal().pages.len();
    register(
        &mut bed,
        &[mdl(0, 3 * 4096, &[1, 2, 3])],
        4096,
        MrFlags::NONE,
    )
    .unwrap();
    assert_eq!(bed.nic.hal().pages.len(), before + 1);
    // A gap beyond the length does not matter.
    let chain = [first, second(9)];
    register(&mut bed, &chain, 0x1000, MrFlags::NONE).unwrap();
}

// Covers: NDK-RMR-7
#[test]
fn ndk_rmr_7_page_table_runs_out() {
    let mut bed = Bed::new();
    let all: Vec<u64> = (0..1024).collect();
    let many = [Mdl {
        byte_count: 1024 * 4096,
        ..mdl(0, 0, &all)
    }];
    let a = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let b = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    bed.nic
        .register_mr(a, &many, 1024 * 4096, MrFlags::NONE)
        .unwrap();
    let outcome = bed.nic.register_mr(b, &many, 1, MrFlags::NONE);
    assert_eq!(outcome, Err(NtStatus::INSUFFICIENT_RESOURCES.into()));
    bed.nic.deregister_mr(a).unwrap();
    bed.nic
        .register_mr(b, &many, 1024 * 4096, MrFlags::NONE)
        .unwrap();
}

// Covers: NDK-RMR-7
#[test]
fn ndk_rmr_7_tokens_run_out() {
    let mut bed = Bed::new();
    let chain = [mdl(0, 4096, &[5])];
    let first = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    bed.nic
        .register_mr(first, &chain, 1, MrFlags::NONE)
        .unwrap();
    let more = (0..).find(|_| register(&mut bed, &chain, 1, MrFlags::NONE).is_err());
    assert_eq!(
        more,
        Some(253),
        "256 without number 0, the privileged token and the first"
    );
    for _ in 0..1024 {
        let outcome = register(&mut bed, &chain, 1, MrFlags::NONE);
        assert_eq!(outcome, Err(NtStatus::INSUFFICIENT_RESOURCES.into()));
    }
    // Failures took no pages: 1024 less the 253 that are registered.
    bed.nic.close_mr(first).unwrap();
    let pages: Vec<u64> = (0..771).collect();
    let many = [Mdl {
        byte_count: 771 * 4096,
        ..mdl(0, 0, &pages)
    }];
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let most = bed.nic.register_mr(mr, &many, 770 * 4096, MrFlags::NONE);
    assert_eq!(most, Ok(()));
}

// Covers: NDK-RMR-8
#[test]
fn ndk_rmr_8_deregistration() {
    let mut bed = Bed::new();
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let state = Err(NtStatus::INVALID_DEVICE_STATE.into());
    assert_eq!(bed.nic.local_token_from_mr(mr), state);
    assert_eq!(
        bed.nic.deregister_mr(mr),
        Err(NtStatus::INVALID_DEVICE_STATE.into())
    );
    let chain = [mdl(0, 4096, &[5])];
    bed.nic
        .register_mr(mr, &chain, 4096, MrFlags::NONE)
        .unwrap();
    assert_eq!(
        bed.nic.register_mr(mr, &chain, 4096, MrFlags::NONE),
        Err(NtStatus::INVALID_DEVICE_STATE.into())
    );
    let index = bed.nic.local_token_from_mr(mr).unwrap().0 >> 8;
    bed.nic.deregister_mr(mr).unwrap();
    assert_eq!(bed.nic.hal().entry(Table::Token, index).get("valid"), 0);
    assert_eq!(bed.nic.local_token_from_mr(mr), state);
}

/// Reading O34: an index used again has another key.
#[test]
fn o34_keys_change() {
    let mut bed = Bed::new();
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    let chain = [mdl(0, 4096, &[5])];
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..1000 {
        bed.nic
            .register_mr(mr, &chain, 4096, MrFlags::NONE)
            .unwrap();
        assert!(seen.insert(bed.nic.local_token_from_mr(mr).unwrap()));
        bed.nic.deregister_mr(mr).unwrap();
    }
}

#[test]
fn ndk_fini_1_a_region_for_fast_registration_is_not_registered() {
    let mut bed = Bed::new();
    let mr = bed.nic.create_mr(bed.pd, MrUse::FastRegister).unwrap();
    let outcome = bed
        .nic
        .register_mr(mr, &[mdl(0, 4096, &[5])], 1, MrFlags::NONE);
    assert_eq!(outcome, Err(NtStatus::INVALID_DEVICE_REQUEST.into()));
}

#[test]
fn ndk_tok_3_privileged_token() {
    let mut bed = Bed::new();
    let other = bed.nic.create_pd().unwrap();
    let token = bed.nic.privileged_memory_region_token(bed.pd).unwrap();
    assert_ne!(
        bed.nic.privileged_memory_region_token(other).unwrap(),
        token
    );
    let entry = bed.nic.hal().entry(Table::Token, token.0 >> 8);
    let fields = [
        "valid",
        "kind",
        "local_write",
        "remote_read",
        "remote_write",
        "pd",
    ];
    assert_eq!(fields.map(|field| entry.get(field)), [1, 3, 1, 0, 0, 1]);
}

#[test]
fn bench_fast_region() {
    let mut bed = Bed::new();
    let chain = [Mdl::identity(0x20_0040, 0x3000)];
    let mr = bed
        .nic
        .bench()
        .place_fast_region(bed.pd, &chain, 0x3000, MrFlags::ALLOW_REMOTE_READ)
        .unwrap();
    let index = bed.nic.local_token_from_mr(mr).unwrap().0 >> 8;
    let entry = bed.nic.hal().entry(Table::Token, index);
    let fields = [
        "valid",
        "kind",
        "remote_read",
        "base_address",
        "page_offset",
    ];
    assert_eq!(
        fields.map(|field| entry.get(field)),
        [1, 1, 1, 0x20_0040, 0x40]
    );
    assert_eq!(bed.nic.hal().page_commands, [4]);
    let bad = bed
        .nic
        .bench()
        .place_fast_region(bed.pd, &[], 1, MrFlags::NONE);
    assert_eq!(bad, Err(NtStatus::INVALID_PARAMETER.into()));
}
