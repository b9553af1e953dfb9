//! Ctrl-C: the first one lets what is under way end, the second one does not.

use tandem_testbench::stop;

/// What the shell expects of a program that Ctrl-C has ended.
pub const STATUS: u8 = 130;

/// Takes Ctrl-C from now on.
pub fn install() {
    let taken = ctrlc::set_handler(|| {
        if stop::asked() {
            std::process::exit(STATUS.into());
        }
        stop::ask();
        eprintln!("\nstopping as soon as what is under way has ended; once more to stop at once");
    });
    if let Err(error) = taken {
        eprintln!("Ctrl-C will stop at once: {error}");
    }
}
