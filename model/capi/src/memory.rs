//! Pointers of the caller: looked at before they are used.

use std::ffi::{CStr, c_char};

use crate::code::{Failure, Outcome, TANDEM_ERR_NULL, TANDEM_ERR_SHORT, TANDEM_OK};

fn null(what: &str) -> Failure {
    Failure::new(TANDEM_ERR_NULL, format!("{what} is null"))
}

/// An object of the caller's.
///
/// # Safety
/// The pointer is null or leads to a value that lives, and is not changed but through locks, for `'a`.
pub(crate) unsafe fn object<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller promises that it leads to a value or is null, which `as_ref` looks for.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// Looks whether there is a place.
pub(crate) fn there<T>(place: *const T, what: &str) -> Result<(), Failure> {
    match place.is_null() {
        true => Err(null(what)),
        false => Ok(()),
    }
}

/// Bytes of the caller's; null is no bytes if the length is 0.
///
/// # Safety
/// The pointer is null or leads to `length` bytes that live, unchanged, for `'a`.
pub(crate) unsafe fn bytes<'a>(
    pointer: *const u8,
    length: usize,
    what: &str,
) -> Result<&'a [u8], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(null(what));
    }
    checked(length, what)?;
    // SAFETY: not null, not longer than an object can be, and the caller promises that so many bytes are there.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// Places of the caller's that are written.
///
/// # Safety
/// The pointer is null or leads to `length` bytes that nobody else touches for `'a`; they have values.
pub(crate) unsafe fn bytes_mut<'a>(
    pointer: *mut u8,
    length: usize,
    what: &str,
) -> Result<&'a mut [u8], Failure> {
    if length == 0 {
        return Ok(&mut []);
    }
    if pointer.is_null() {
        return Err(null(what));
    }
    checked(length, what)?;
    // SAFETY: not null, not longer than an object can be, and the caller promises that so many bytes are there for us.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, length) })
}

fn checked(length: usize, what: &str) -> Result<(), Failure> {
    isize::try_from(length)
        .map(drop)
        .map_err(|_| Failure::value(format!("{what}: {length} bytes are more than memory has")))
}

/// Stores a result.
///
/// # Safety
/// The pointer is null or leads to a place for a `T`.
pub(crate) unsafe fn put<T>(value: T, place: *mut T, what: &str) -> Result<(), Failure> {
    there(place, what)?;
    // SAFETY: not null, and the caller promises a place. Nothing is read from it.
    unsafe { place.write(value) };
    Ok(())
}

/// Stores a text with its final zero, cut off if it does not fit, and the length of the whole without the zero.
///
/// # Safety
/// `place` is null or leads to `capacity` bytes that may be written, `length` is null or leads to a size.
pub(crate) unsafe fn put_text(
    text: &str,
    place: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Outcome {
    if !length.is_null() {
        // SAFETY: not null, and the caller promises a place.
        unsafe { length.write(text.len()) };
    }
    let Some(room) = capacity.checked_sub(1) else {
        return Err(Failure::new(TANDEM_ERR_SHORT, "no room for a text"));
    };
    if place.is_null() {
        return Err(null("the buffer"));
    }
    let mut n = room.min(text.len());
    while !text.is_char_boundary(n) {
        n -= 1;
    }
    // SAFETY: not null, the caller promises `capacity` bytes, and n + 1 are at most so many.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), n);
        place.add(n).write(0);
    }
    if n < text.len() {
        return Err(Failure::new(TANDEM_ERR_SHORT, "the text was cut off"));
    }
    Ok(TANDEM_OK)
}

/// A text of the caller's.
///
/// # Safety
/// The pointer is null or leads to bytes that end with a zero and live, unchanged, for `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(null(what));
    }
    // SAFETY: not null, and the caller promises that a zero ends it.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map_err(|_| Failure::value(format!("{what} is not UTF-8")))
}

/// Frees an object.
///
/// # Safety
/// The pointer came from `guard_new`, was not freed, and nobody uses the object.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    // SAFETY: the caller promises that it came out of a box and is given back once.
    drop(unsafe { Box::from_raw(pointer) });
}
