//! Registers that vectors can look at, by name.

use tandem_model::abi::DropCause;

/// Byte offset of a register: `DROP_<cause>`, a counter by its name, or an offset in hexadecimal.
pub fn register(name: &str) -> Option<u32> {
    if let Some(hex) = name.strip_prefix("0x") {
        let offset = u32::from_str_radix(hex, 16).ok()?;
        return (offset < 0x1000 && offset % 4 == 0).then_some(offset);
    }
    if let Some(cause) = name.strip_prefix("DROP_") {
        let known = |drop: &&DropCause| format!("{drop:?}").eq_ignore_ascii_case(cause);
        let drop = DropCause::ALL.iter().find(known)?;
        return Some(0x200 + 4 * u32::from(*drop as u8));
    }
    match name {
        "RX_FRAMES" => Some(0x280),
        "TX_FRAMES" => Some(0x284),
        "GO_BACKS" => Some(0x298),
        "TIMEOUTS" => Some(0x29C),
        "RNR_WAITS" => Some(0x2A0),
        "DUPLICATES" => Some(0x2A4),
        "NAKS_OUT" => Some(0x2A8),
        "CNP_IN" => Some(0x2AC),
        "CNP_OUT" => Some(0x2B0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::register;

    #[test]
    fn registers_have_names() {
        assert_eq!(register("DROP_None"), Some(0x200));
        assert_eq!(register("DROP_Qpn"), Some(0x234));
        assert_eq!(register("TX_FRAMES"), Some(0x284));
        assert_eq!(register("GO_BACKS"), Some(0x298));
        assert_eq!(register("0x05C"), Some(0x5C));
        assert_eq!(register("0x05D"), None);
        assert_eq!(register("DROP_Nothing"), None);
    }
}
