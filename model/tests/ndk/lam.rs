//! Logical address mappings.

use std::mem::{offset_of, size_of};

use tandem_model::ndk::{
    AdapterConfig, LamOutcome, Mdl, NdkLogicalAddressMapping as Lam, NtStatus, PAGE_SIZE, Provider,
};

use crate::fake::Fake;

const VA: u64 = 0x7F00_0000_0ABC;

fn nic() -> Provider<Fake> {
    Provider::open(Fake::new(), AdapterConfig::default()).unwrap()
}

/// 0x2000 bytes from 0xABC into the first of three pages, in two pieces that share the second page.
fn chain() -> [Mdl; 2] {
    let first = Mdl {
        virtual_address: VA,
        byte_offset: 0xABC,
        byte_count: 0x1000,
        pages: vec![0x9000, 0x4000],
    };
    let second = Mdl {
        virtual_address: VA + 0x1000,
        byte_offset: 0xABC,
        byte_count: 0x1000,
        pages: vec![0x4000, 0xFFFF_FFFF_FFFF_F000],
    };
    [first, second]
}

const PAGES: [u64; 3] = [0x9000, 0x4000, 0xFFFF_FFFF_FFFF_F000];

fn failed(status: NtStatus) -> LamOutcome {
    LamOutcome {
        status,
        size: 0,
        fbo: 0,
    }
}

#[test]
fn ndk_lam_layout() {
    assert_eq!(
        [
            offset_of!(Lam, adapter_context),
            offset_of!(Lam, adapter_page_count),
            offset_of!(Lam, adapter_page_array),
            size_of::<Lam>(),
        ],
        [0, 8, 16, 24]
    );
    assert_eq!([0, 1, 5].map(Lam::bytes), [16, 24, 56]);
}

// Covers: NDK-LAM-2, NDK-LAM-3, NDK-LAM-6, NDK-LAM-7
#[test]
fn ndk_lam_2_built_and_released() {
    let mut nic = nic();
    let chain = chain();
    let before = chain.clone();
    let mut buffer = [0xEE; 48];
    let outcome = nic.build_lam(&chain, 0x2000, &mut buffer);
    let expected = LamOutcome {
        status: NtStatus::SUCCESS,
        size: 40,
        fbo: 0xABC,
    };
    assert_eq!(outcome, expected);
    assert_eq!(buffer[8..16], [3, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(buffer[40..], [0xEE; 8]);
    assert_eq!(Lam::pages(&buffer), PAGES);
    assert!(PAGES.iter().all(|page| page % PAGE_SIZE == 0));
    assert_eq!(nic.mapped_pages(), 3);
    // A part needs fewer pages; the virtual address is an index only.
    let mut part = [0; 64];
    let mut moved = chain.clone();
    moved[0].virtual_address = 5;
    moved[1].virtual_address = 0x1005;
    let outcome = nic.build_lam(&moved, 0x1001, &mut part);
    assert_eq!((outcome.status, outcome.size), (NtStatus::SUCCESS, 32));
    assert_eq!(Lam::pages(&part), PAGES[..2]);
    assert_eq!(nic.mapped_pages(), 5);
    nic.release_lam(&buffer);
    assert_eq!(nic.mapped_pages(), 2);
    assert_eq!(chain, before);
    // Twice, or what is none: nothing happens.
    nic.release_lam(&buffer);
    nic.release_lam(&[0; 7]);
    assert_eq!(nic.mapped_pages(), 2);
    nic.release_lam(&part);
    assert_eq!(nic.mapped_pages(), 0);
}

// Covers: NDK-LAM-1, NDK-LAM-5
#[test]
fn ndk_lam_1_short_buffer() {
    let mut nic = nic();
    for length in [0, 8, 16, 39] {
        let mut buffer = vec![0xEE; length];
        let outcome = nic.build_lam(&chain(), 0x2000, &mut buffer);
        let expected = LamOutcome {
            size: 40,
            ..failed(NtStatus::BUFFER_TOO_SMALL)
        };
        assert_eq!(outcome, expected);
        assert_eq!(buffer, vec![0xEE; length]);
    }
    assert_eq!(nic.mapped_pages(), 0);
}

// Covers: NDK-LAM-4, NDK-LAM-5
#[test]
fn ndk_lam_4_not_contiguous() {
    let mut nic = nic();
    let [first, second] = chain();
    let gap = Mdl {
        virtual_address: second.virtual_address + 1,
        ..second.clone()
    };
    let other_page = Mdl {
        pages: vec![0x5000, 0x6000],
        ..second.clone()
    };
    let crooked = Mdl {
        pages: vec![0x4000, 0x6001],
        ..second.clone()
    };
    let chains = [
        vec![first.clone(), gap],
        vec![first.clone(), other_page],
        vec![first.clone(), crooked],
        vec![second.clone(), first.clone()],
        vec![first.clone()],
        vec![],
    ];
    let mut buffer = [0xEE; 64];
    for chain in chains {
        let outcome = nic.build_lam(&chain, 0x2000, &mut buffer);
        assert_eq!(outcome, failed(NtStatus::INVALID_PARAMETER));
    }
    let outcome = nic.build_lam(&[first, second], 0, &mut buffer);
    assert_eq!(outcome, failed(NtStatus::INVALID_PARAMETER));
    assert_eq!(buffer, [0xEE; 64]);
    assert_eq!(nic.mapped_pages(), 0);
}

/// A failure for want of map registers leaves none behind.
// Covers: NDK-LAM-5
#[test]
fn ndk_lam_5_no_more_pages() {
    let mut nic = nic();
    let large = |pages: u32| Mdl {
        virtual_address: 0,
        byte_offset: 0,
        byte_count: pages * 4096,
        pages: vec![0x7000; pages as usize],
    };
    let half = [large(1 << 17)];
    let mut buffer = vec![0; Lam::bytes(1 << 17)];
    let bytes = 1 << 29;
    assert!(nic.build_lam(&half, bytes, &mut buffer).status.is_success());
    let mut last = [0; 24];
    let one_page = nic.build_lam(&[large(1)], 4096, &mut last);
    assert!(one_page.status.is_success());
    let mut other = vec![0xEE; Lam::bytes(1 << 17)];
    let outcome = nic.build_lam(&half, bytes, &mut other);
    assert_eq!(outcome, failed(NtStatus::INSUFFICIENT_RESOURCES));
    assert!(other.iter().all(|byte| *byte == 0xEE));
    assert_eq!(nic.mapped_pages(), (1 << 17) + 1);
    nic.release_lam(&last);
    let outcome = nic.build_lam(&half, bytes, &mut other);
    assert!(outcome.status.is_success());
    assert_eq!(nic.mapped_pages(), 1 << 18);
}
