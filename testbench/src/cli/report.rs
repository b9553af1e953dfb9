//! One reporting style for everything that goes wrong: miette, with the text underlined where there is one.

use std::path::Path;

use miette::{
    GraphicalTheme, LabeledSpan, MietteDiagnostic, MietteHandlerOpts, NamedSource, Report,
};
use tandem_testbench::plan::PlanError;
use tandem_testbench::vector::{Fault, VectorError};

/// Sets the style up: plain characters where the terminal may not have others.
pub fn install() {
    // Fails only if it was done before.
    let _ = miette::set_hook(Box::new(|_| {
        Box::new(MietteHandlerOpts::new().width(100).context_lines(2).build())
    }));
}

/// A fault of a file.
pub fn fault(path: &Path, text: &str, fault: &Fault) -> Report {
    let mut diagnostic = MietteDiagnostic::new(fault.message.clone())
        .with_label(LabeledSpan::at(fault.span.clone(), fault.label.clone()));
    diagnostic.help.clone_from(&fault.help);
    let source = NamedSource::new(path.display().to_string(), text.to_owned());
    Report::new(diagnostic).with_source_code(source)
}

/// A vector that cannot be loaded.
pub fn vector(error: VectorError) -> Report {
    match error {
        VectorError::Text {
            path,
            text,
            fault: found,
        } => fault(&path, &text, &found),
        VectorError::Read { path, source } => {
            miette::miette!("cannot read {}: {source}", path.display())
        }
        other => miette::miette!("{other}"),
    }
}

/// A plan that cannot be used.
pub fn plan(error: PlanError) -> Report {
    match error {
        PlanError::Text {
            path,
            text,
            fault: found,
        } => fault(&path, &text, &found),
        PlanError::Vector(error) => vector(error),
        other => miette::miette!("{other}"),
    }
}

/// A report as text without colours, for files and tests.
pub fn plain(report: &Report) -> String {
    let mut text = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .with_context_lines(2);
    // Writing to a string does not fail.
    let _ = handler.render_report(&mut text, report.as_ref());
    text
}
