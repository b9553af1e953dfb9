//! Files that others look at while they are written.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What the user's mask takes away is not there.
const MODE: u32 = 0o666;

fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| folder.components().count() > 0);
    tempfile::Builder::new()
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
}

/// Writes a file in such a way that nobody ever sees a part of it.
///
/// # Errors
/// If it cannot be written.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The same, if there is no such file yet; whether it was written.
///
/// # Errors
/// If it cannot be written.
pub fn create(path: &Path, text: &str) -> io::Result<bool> {
    let mut file = beside(path)?;
    file.write_all(text.as_bytes())?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}
