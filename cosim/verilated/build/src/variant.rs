use crate::Version;

/// How a design is verilated. Random initialisation is possible in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// For speed: no trace, no assertions; can be saved and restored.
    Fast,
    /// For finding out why: FST trace and assertions; can be saved and restored.
    Debug,
    /// For signoff: line, toggle, expression and user coverage, and assertions.
    Coverage,
}

impl Variant {
    /// The three variants.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Debug, Self::Coverage];

    /// The name in lower case, as it is used in class prefixes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Debug => "debug",
            Self::Coverage => "coverage",
        }
    }

    pub(crate) fn flags(self, version: Version) -> Vec<&'static str> {
        match self {
            // Debian's 5.006 turns assertions off by default and does not know how to say so.
            Self::Fast if version < Version::new(5, 38) => vec!["--savable"],
            Self::Fast => vec!["--no-assert", "--savable"],
            Self::Debug => vec!["--assert", "--trace-fst", "--trace-structs", "--savable"],
            // `--coverage` as one flag trips an internal error of 5.048; `--savable` is not
            // supported together with coverage.
            Self::Coverage => {
                let mut flags = vec![
                    "--assert",
                    "--coverage-line",
                    "--coverage-toggle",
                    "--coverage-user",
                ];
                if version >= Version::new(5, 36) {
                    flags.push("--coverage-expr");
                }
                flags
            }
        }
    }
}
