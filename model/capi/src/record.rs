//! Commit records as bytes, and records of the ABI by the names of their fields.

use std::ffi::c_char;

use tandem_model::abi::{COMMIT, LAYOUTS, Layout, Record};
use tandem_model::engine::Action;

use crate::code::{Failure, TANDEM_ERR_SHORT, TANDEM_OK, guard};
use crate::memory;

/// Bytes of a commit record.
pub const TANDEM_COMMIT_BYTES: usize = 14;

/// The action of a commit record.
pub(crate) fn action(bytes: &[u8]) -> Result<Action, Failure> {
    Action::from_record(&Record::from_bytes(&COMMIT, bytes))
        .map_err(|error| Failure::value(error.to_string()))
}

/// The commit record of an action.
pub(crate) fn bytes_of(action: &Action) -> [u8; TANDEM_COMMIT_BYTES] {
    let mut bytes = [0; TANDEM_COMMIT_BYTES];
    for (to, from) in bytes.iter_mut().zip(action.to_record().as_bytes()) {
        *to = *from;
    }
    bytes
}

/// See `tandem.h`.
///
/// # Safety
/// `record` points to [`TANDEM_COMMIT_BYTES`] bytes, `text` to `capacity` that may be written, `length` to a size or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_action_text(
    record: *const u8,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    guard(|| {
        // SAFETY: the caller promises the bytes.
        let record = unsafe { memory::bytes(record, TANDEM_COMMIT_BYTES, "the record") }?;
        let words = action(record)?.to_string();
        // SAFETY: the caller promises the same.
        unsafe { memory::put_text(&words, text, capacity, length) }
    })
}

/// Where a field lies in its record.
struct Place {
    layout: &'static Layout,
    field: &'static str,
    offset: usize,
    width: usize,
}

/// Finds a field by name.
///
/// # Safety
/// Both are null or lead to bytes that end with a zero.
unsafe fn place(layout: *const c_char, field: *const c_char) -> Result<Place, Failure> {
    // SAFETY: the caller promises the same.
    let (name, field) = unsafe {
        (
            memory::text(layout, "the layout's name")?,
            memory::text(field, "the field's name")?,
        )
    };
    let layout = LAYOUTS.iter().find(|layout| layout.name == name);
    let layout = layout.ok_or_else(|| Failure::value(format!("there is no layout {name}")))?;
    let known = layout.fields.iter().find(|known| known.name == field);
    let (known, (offset, width)) = known
        .zip(layout.field(field))
        .ok_or_else(|| Failure::value(format!("{name} has no field {field}")))?;
    Ok(Place {
        layout,
        field: known.name,
        offset,
        width,
    })
}

impl Place {
    /// Whether a record of so many bytes holds it, in a value of 64 bits.
    fn check(&self, length: usize) -> Result<(), Failure> {
        let Self { layout, field, .. } = self;
        if length < layout.bytes() {
            let text = format!("{} has {} bytes, not {length}", layout.name, layout.bytes());
            return Err(Failure::new(TANDEM_ERR_SHORT, text));
        }
        if self.width > 64 {
            let text = format!("{}.{field} has {} bits", layout.name, self.width);
            return Err(Failure::value(text));
        }
        Ok(())
    }
}

/// See `tandem.h`.
///
/// # Safety
/// The names end with a zero, `bit` and `width` point to a number each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_field(
    layout: *const c_char,
    field: *const c_char,
    bit: *mut u32,
    width: *mut u32,
) -> i32 {
    guard(|| {
        // SAFETY: the caller promises the same of all four.
        unsafe {
            let place = place(layout, field)?;
            memory::put(place.offset as u32, bit, "the place of the offset")?;
            memory::put(place.width as u32, width, "the place of the width")?;
        }
        Ok(TANDEM_OK)
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `record` points to `length` bytes that may be written, the names end with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_set_field(
    record: *mut u8,
    length: usize,
    layout: *const c_char,
    field: *const c_char,
    value: u64,
) -> i32 {
    guard(|| {
        // SAFETY: the caller promises the same.
        let (place, bytes) = unsafe {
            (
                place(layout, field)?,
                memory::bytes_mut(record, length, "the record")?,
            )
        };
        place.check(length)?;
        if place.width < 64 && value >> place.width != 0 {
            let text = format!("{value:#x} does not fit into {} bits", place.width);
            return Err(Failure::value(text));
        }
        let changed = Record::from_bytes(place.layout, bytes).with(place.field, value);
        let changed = changed.as_bytes();
        bytes[..changed.len()].copy_from_slice(changed);
        Ok(TANDEM_OK)
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `record` points to `length` bytes, the names end with a zero, `value` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_get_field(
    record: *const u8,
    length: usize,
    layout: *const c_char,
    field: *const c_char,
    value: *mut u64,
) -> i32 {
    guard(|| {
        // SAFETY: the caller promises the same.
        let (place, bytes) = unsafe {
            (
                place(layout, field)?,
                memory::bytes(record, length, "the record")?,
            )
        };
        place.check(length)?;
        let found = Record::from_bytes(place.layout, bytes).get(place.field) as u64;
        // SAFETY: the caller promises a place.
        unsafe { memory::put(found, value, "the place of the value") }?;
        Ok(TANDEM_OK)
    })
}
