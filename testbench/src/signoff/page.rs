//! The signoff as one page of HTML that needs nothing else: no network, no other file.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::plan::{Claim, Standing};
use super::source::{Annotated, Line};
use super::{Evidence, FailureRow, Signoff, Step};
use crate::coverage::code::Kind;
use crate::coverage::report::{Hole, Report, Share, Shares};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page.
pub fn html(signoff: &Signoff) -> String {
    let sections = [
        ("steps", "Steps"),
        ("plan", "Plan"),
        ("coverage", "Coverage"),
        ("bugs", "Field bugs"),
        ("failures", "Failures"),
        ("runs", "Runs"),
        ("tools", "Tools"),
    ];
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Tandem signoff" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { (head(signoff)) }
                nav aria-label="Sections" {
                    ul { @for (id, name) in sections { li { a href={ "#" (id) } { (name) } } } }
                }
                main {
                    section id="steps" { h2 { "Steps" } (steps(signoff)) }
                    section id="plan" { h2 { "Plan" } (plan(signoff)) }
                    section id="coverage" { h2 { "Coverage" } (coverage(signoff)) }
                    section id="bugs" { h2 { "Field bugs" } (bugs(signoff)) }
                    section id="failures" { h2 { "Failures" } (failures(signoff)) }
                    section id="runs" { h2 { "Runs" } (runs(signoff)) }
                    section id="tools" { h2 { "Tools" } (tools(signoff)) }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn head(signoff: &Signoff) -> Markup {
    let verdict = signoff.verdict();
    let class = if verdict.is_passed() { "good" } else { "bad" };
    html! {
        h1 { "Tandem signoff" }
        div #verdict class={ "verdict " (class) } {
            strong { @if verdict.is_passed() { "Signed off" } @else { "Not signed off" } }
            @if !verdict.is_passed() {
                ul { @for reason in &verdict.against { li { (reason) } } }
            }
        }
        p.meta {
            "commit " code { (signoff.commit.as_deref().unwrap_or("unknown")) }
            ", " (signoff.made) ", target " code { (signoff.target) }
            ", seeds " (signoff.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A word in the colour of what it says.
fn tag(class: &str, word: &str) -> Markup {
    html! { span class={ "tag " (class) } { (word) } }
}

fn outcome(passed: Option<bool>) -> Markup {
    match passed {
        Some(true) => tag("good", "passed"),
        Some(false) => tag("bad", "failed"),
        None => tag("some", "left out"),
    }
}

/// The field that filters a table.
fn filter(table: &str, hint: &str) -> Markup {
    html! {
        div.filter data-filter=(table) {
            input type="search" placeholder=(hint) aria-label={ "Filter: " (hint) };
            output {}
        }
    }
}

fn steps(signoff: &Signoff) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th { "step" } th { "outcome" } th { "what came of it" } th.number { "seconds" } } }
            tbody {
                @for step in &signoff.steps { (step_row(step)) }
                @for evidence in &signoff.evidence { (evidence_row(evidence)) }
            }
        } }
    }
}

fn step_row(step: &Step) -> Markup {
    html! { tr {
        td.name { (step.name) }
        td { (outcome(step.passed)) }
        td {
            (step.summary) br; code { (step.command) }
            @if !step.output.is_empty() { details { summary { "output" } pre { (step.output) } } }
        }
        td.number { (format!("{:.1}", step.seconds)) }
    } }
}

fn evidence_row(evidence: &Evidence) -> Markup {
    html! { tr {
        td.name { (evidence.name) }
        td { (outcome(Some(evidence.passed))) }
        td {
            (evidence.summary) br; code { (evidence.command) }
            @if let Some(commit) = &evidence.commit { " of " code { (commit) } }
            @if !evidence.findings.is_empty() {
                details {
                    summary { @match evidence.findings.len() { 1 => "1 finding", many => { (many) " findings" } } }
                    ul { @for finding in &evidence.findings {
                        li { (outcome(Some(finding.passed))) " " (finding.name) " " span.soft { (finding.detail) } }
                    } }
                }
            }
        }
        td.number {}
    } }
}

fn standing(standing: Standing) -> Markup {
    let class = match standing {
        Standing::Covered => "good",
        Standing::Failed | Standing::Forgotten => "bad",
        Standing::Open => "some",
        Standing::Reason | Standing::NotOurs => "soft",
    };
    tag(class, standing.word())
}

fn claims(claims: &[Claim]) -> Markup {
    html! { @for claim in claims {
        div {
            span.soft { (claim.kind.word()) } " " (claim.name) " "
            code.soft { (claim.file.display()) ":" (claim.line) }
            @if claim.passed == Some(false) { " " (tag("bad", "failed")) }
        }
    } }
}

fn plan(signoff: &Signoff) -> Markup {
    let all = [
        Standing::Covered,
        Standing::Failed,
        Standing::Forgotten,
        Standing::Open,
        Standing::Reason,
        Standing::NotOurs,
    ];
    let count = |wanted| {
        signoff
            .plan
            .iter()
            .filter(|row| row.standing == wanted)
            .count()
    };
    html! {
        p { @for one in all { (standing(one)) " " (count(one)) " " } }
        (filter("plan-rows", "id, layer, word of the requirement, file"))
        div.wide { table #plan-rows {
            thead { tr { th { "requirement" } th { "layer" } th { "state" } th { "covered by" } } }
            tbody { @for row in &signoff.plan {
                tr id=(row.id) {
                    td { a href={ "#" (row.id) } { (row.id) } br; (row.title) br; span.soft { (row.source) } }
                    td { (row.layer) }
                    td { (standing(row.standing)) }
                    td {
                        @if !row.why.is_empty() { p.soft { (row.why) } }
                        @match row.claims.len() {
                            0 => {}
                            1..=3 => (claims(&row.claims)),
                            more => details { summary { (more) " of them" } (claims(&row.claims)) },
                        }
                    }
                }
            } }
        } }
    }
}

fn share(share: Option<&Share>) -> Markup {
    let Some(share) = share.filter(|share| share.total > 0) else {
        return html! { span.soft { "–" } };
    };
    html! {
        span.bar { i style=(format!("width:{:.1}%", share.percent())) {} }
        (format!("{:.1} %", share.percent()))
        span.soft { " " (share.covered) "/" (share.total) }
    }
}

fn coverage(signoff: &Signoff) -> Markup {
    let Some(report) = &signoff.coverage else {
        return html! { p.bad { "It was not counted." } };
    };
    html! {
        @for refuted in &report.refuted {
            p.bad { "Refuted: " (refuted.what) " was covered, and is said to be impossible: " (refuted.reason) }
        }
        p { "cover points " (share(Some(&report.functional))) }
        @if report.code.is_empty() {
            p.some { "The code of the engine was not counted: that takes the coverage build." }
        }
        (shares("room", "rooms", &report.rooms))
        h3 { "Cover points" }
        (filter("points", "room, point, bin"))
        div.wide { table #points {
            thead { tr { th { "point" } th { "bins seen" } th { "not seen" } } }
            tbody { @for (name, of) in &report.points { tr {
                td.name { (name) }
                td { (share(Some(of))) }
                td { (holes(report, name)) }
            } } }
        } }
        @if !signoff.sources.is_empty() {
            h3 { "Files" }
            (shares("file", "files", &report.files))
            @for source in &signoff.sources { (annotated(source)) }
        }
    }
}

fn shares(what: &str, id: &str, rows: &std::collections::BTreeMap<String, Shares>) -> Markup {
    html! { @if !rows.is_empty() {
        (filter(id, what))
        div.wide { table id=(id) {
            thead { tr { th { (what) } @for kind in Kind::ALL { th { (kind.plural()) } } } }
            tbody { @for (name, of) in rows { tr {
                td.name { @if what == "file" { a href={ "#" (name) } { (name) } } @else { (name) } }
                @for kind in Kind::ALL { td { (share(of.get(&kind))) } }
            } } }
        } }
    } }
}

/// The bins of a point that were not seen.
fn holes(report: &Report, point: &str) -> Markup {
    let bins = report.holes.iter().filter_map(|hole| match hole {
        Hole::Bin { point: of, bin } if of == point => Some(bin),
        _ => None,
    });
    html! { @for bin in bins { div { (bin) } } }
}

fn annotated(source: &Annotated) -> Markup {
    html! {
        details id=(source.file) {
            summary { code { (source.file) } }
            div.source.code { @for (line, number) in source.lines.iter().zip(1..) { (source_line(line, number)) } }
        }
    }
}

fn source_line(line: &Line, number: u32) -> Markup {
    let class = match line.count {
        Some(0) => "no",
        _ if !line.missing.is_empty() => "part",
        _ => "",
    };
    let title = line.missing.join("\n");
    html! {
        div class=[(!class.is_empty()).then_some(class)] title=[(!title.is_empty()).then_some(title)] {
            b { (number) } u { @if let Some(count) = line.count { (count) } } (line.text)
        }
    }
}

fn bugs(signoff: &Signoff) -> Markup {
    html! {
        (filter("bug-rows", "id, word of the fault, vector"))
        div.wide { table #bug-rows {
            thead { tr { th { "fault of others" } th { "state" } th { "shown by" } } }
            tbody { @for bug in &signoff.field_bugs { tr {
                td { (bug.id) br; (bug.title) }
                td {
                    @if bug.is_open() { (tag("bad", "open")) }
                    @else if bug.claims.is_empty() { (tag("soft", "reason")) }
                    @else { (tag("good", "survived")) }
                }
                td {
                    @if let Some(reason) = &bug.reason { p.soft { (reason) } }
                    (claims(&bug.claims))
                }
            } } }
        } }
    }
}

fn failures(signoff: &Signoff) -> Markup {
    html! {
        @if signoff.failures.is_empty() { p { "None." } }
        @for failure in &signoff.failures { (failure_entry(failure)) }
    }
}

fn failure_entry(failure: &FailureRow) -> Markup {
    html! {
        article {
            h3 { (failure.title) }
            p { (tag("bad", failure.kind.words())) " " span.bad { (failure.message) } }
            p { "run it again with" br; code { (failure.command) } }
            @for (node, timing) in &failure.timing {
                figure tabindex="0" { (PreEscaped(timing.svg(node))) }
            }
            details open { summary { "report" } pre { (failure.report) } }
            @if !failure.files.is_empty() {
                ul { @for file in &failure.files { li { code { (file.display()) } } } }
            }
        }
    }
}

fn runs(signoff: &Signoff) -> Markup {
    html! {
        (filter("run-rows", "vector, folder, outcome"))
        div.wide { table #run-rows {
            thead { tr {
                th { "vector" } th { "outcome" } th.number { "seed" } th.number { "frames" } th.number { "clocks" }
                th.number { "decisions" } th.number { "seconds" }
            } }
            tbody { @for run in &signoff.runs { tr {
                td { (run.title) br; code.soft { (run.file.display()) } }
                td { (outcome(Some(run.passed))) }
                td.number { (run.seed) }
                td.number { (run.frames) }
                td.number { (run.clocks) }
                td.number { (run.actions) }
                td.number { (format!("{:.3}", run.seconds)) }
            } } }
        } }
    }
}

fn tools(signoff: &Signoff) -> Markup {
    html! {
        p { "made by " code { (signoff.command) } }
        table { tbody { @for (name, version) in &signoff.tools {
            tr { td.name { (name) } td { (version) } }
        } } }
    }
}
