//! The parser never panics, and what it accepts is built again byte for byte.

use tandem_model::wire::{DropCause, Frame, dissect, icrc, seal};

/// Shortest frame that is sent.
const MIN_FRAME: usize = 60;

/// The property, of the bytes as they are and with their checksums put right.
pub fn check(bytes: &[u8]) {
    let _ = as_it_is(bytes);
    let mut sealed = bytes.to_vec();
    if !seal(&mut sealed) {
        assert_eq!(sealed, bytes, "not sealed, and yet changed");
        return;
    }
    assert_eq!(sealed.len(), bytes.len());
    match as_it_is(&sealed) {
        // Which bytes the ICRC covers depends on the version.
        Err(DropCause::IpVersion) => return,
        Err(cause @ (DropCause::IpChecksum | DropCause::UdpChecksum | DropCause::Icrc)) => {
            panic!("sealed, and {cause:?}: {}", dissect(&sealed))
        }
        _ => {}
    }
    let mut again = sealed.clone();
    assert!(seal(&mut again));
    assert!(
        again == sealed,
        "sealed twice, and changed again: {}",
        dissect(&sealed)
    );
}

fn as_it_is(bytes: &[u8]) -> Result<(), DropCause> {
    assert!(!dissect(bytes).is_empty());
    icrc(bytes);
    let frame = Frame::parse(bytes).inspect_err(|cause| assert_ne!(*cause, DropCause::None))?;
    let built = frame.to_vec();
    assert_eq!(built.len(), bytes.len().max(MIN_FRAME));
    let (same, fill) = built.split_at(bytes.len());
    assert_eq!(same, bytes, "{}", dissect(bytes));
    assert!(fill.iter().all(|byte| *byte == 0));
    // What was built is the same record, up to the zeros that fill it.
    let again = Frame::parse(&built).expect("what was built is accepted");
    assert!(again.trailer.starts_with(frame.trailer));
    let trailer = frame.trailer;
    assert_eq!(Frame { trailer, ..again }, frame);
    Ok(())
}
