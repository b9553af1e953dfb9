use std::path::PathBuf;

/// Why a simulation stopped, or what could not be done to a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The design executed `$finish`.
    #[error("{file}:{line}: $finish at time {time}")]
    Finish {
        /// The source file, as Verilator was given it.
        file: String,
        /// The line in it.
        line: u32,
        /// The simulated time.
        time: u64,
    },
    /// An assertion failed, or the design executed `$error`.
    #[error("{file}:{line}: assertion failed at time {time} in {scope}: {message}")]
    Assertion {
        /// The source file, as Verilator was given it.
        file: String,
        /// The line in it.
        line: u32,
        /// The simulated time.
        time: u64,
        /// The instance and the assertion's label.
        scope: String,
        /// The message of the design, or Verilator's for an assertion without one.
        message: String,
    },
    /// The design executed `$fatal`.
    #[error("{file}:{line}: $fatal at time {time} in {scope}: {message}")]
    Fatal {
        /// The source file, as Verilator was given it.
        file: String,
        /// The line in it.
        line: u32,
        /// The simulated time.
        time: u64,
        /// The instance.
        scope: String,
        /// The message of the design.
        message: String,
    },
    /// The design executed `$stop`.
    #[error("{file}:{line}: $stop at time {time}")]
    Stop {
        /// The source file, as Verilator was given it.
        file: String,
        /// The line in it.
        line: u32,
        /// The simulated time.
        time: u64,
    },
    /// Verilator's runtime could not go on: the design does not settle, or is used wrongly.
    /// The model is dead after this.
    #[error("Verilator's runtime gave up at time {time}: {message}")]
    Runtime {
        /// The simulated time.
        time: u64,
        /// The message of the runtime, with the place in the design if it has one.
        message: String,
    },
    /// The model was given to the shim of another design.
    #[error("the model is of another design than the shim it was given to")]
    WrongDesign,
    /// The constructor of a design gave no model, or was refused a context.
    #[error("the model could not be made: {message}")]
    Construction {
        /// What was wrong.
        message: String,
    },
    /// A plus-argument that Verilator's runtime does not take.
    #[error("plus-arguments {arguments:?}: {message}")]
    PlusArguments {
        /// All of them.
        arguments: Vec<String>,
        /// What was wrong.
        message: String,
    },
    /// A trace cannot be written there.
    #[error("trace {path}: {message}")]
    Trace {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        message: String,
    },
    /// Coverage data cannot be written there.
    #[error("coverage data {path}: {message}")]
    Coverage {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        message: String,
    },
    /// A state could not be saved.
    #[error("saving a model: {message}")]
    Save {
        /// What was wrong.
        message: String,
    },
    /// A state could not be restored. The model is dead after this, unless it was not verilated
    /// for it.
    #[error("restoring a model: {message}")]
    Restore {
        /// What was wrong.
        message: String,
    },
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the C++ side recorded.
pub(crate) struct Recorded {
    pub cause: u8,
    pub file: String,
    pub line: u32,
    pub time: u64,
    pub text: String,
}

impl From<Recorded> for Error {
    fn from(recorded: Recorded) -> Self {
        let Recorded {
            cause,
            file,
            line,
            time,
            text,
        } = recorded;
        match cause {
            0 => Self::Finish { file, line, time },
            // Only `$stop` says nothing; versions differ in how they tell it from `$error`.
            1 | 2 if text.is_empty() => Self::Stop { file, line, time },
            1 if !text.starts_with("%Fatal") => {
                let (scope, message) = split(&text);
                Self::Assertion {
                    file,
                    line,
                    time,
                    scope,
                    message,
                }
            }
            1 | 2 => {
                let (scope, message) = split(&text);
                Self::Fatal {
                    file,
                    line,
                    time,
                    scope,
                    message,
                }
            }
            4 => Self::WrongDesign,
            _ if file.is_empty() => Self::Runtime {
                time,
                message: text,
            },
            _ => Self::Runtime {
                time,
                message: format!("{file}:{line}: {text}"),
            },
        }
    }
}

/// Takes `%Error: f.sv:3: Assertion failed in top.a: text` apart into scope and message.
fn split(text: &str) -> (String, String) {
    let Some((_, rest)) = text.split_once("Assertion failed in ") else {
        // `$error` outside of an assertion in some versions: `%Error: f.sv:3: text`.
        let message = text.splitn(4, ": ").last().unwrap_or(text);
        return (String::new(), message.into());
    };
    match rest.split_once(": ") {
        Some((scope, message)) => (scope.into(), message.into()),
        None => (rest.trim_end_matches(':').into(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_apart() {
        let both = |scope: &str, message: &str| (scope.to_string(), message.to_string());
        assert_eq!(
            split("%Error: c.sv:13: Assertion failed in TOP.c.a_bad: bad: 3"),
            both("TOP.c.a_bad", "bad: 3")
        );
        assert_eq!(
            split("%Fatal: c.sv:9: Assertion failed in TOP.c: "),
            both("TOP.c", "")
        );
        assert_eq!(split("%Error: c.sv:13: text"), both("", "text"));
    }

    #[test]
    fn a_stop_is_a_fatal_or_an_error_without_words() {
        let recorded = |cause: u8, text: &str| Recorded {
            cause,
            file: "c.sv".into(),
            line: 7,
            time: 40,
            text: text.into(),
        };
        assert_eq!(
            Error::from(recorded(1, "")).to_string(),
            "c.sv:7: $stop at time 40"
        );
        assert_eq!(
            Error::from(recorded(
                2,
                "%Fatal: c.sv:7: Assertion failed in TOP.c: gone"
            ))
            .to_string(),
            "c.sv:7: $fatal at time 40 in TOP.c: gone"
        );
    }
}
