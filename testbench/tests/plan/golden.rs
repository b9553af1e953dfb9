//! What the commands print, word for word: `golden/<name>.txt`. To write the texts anew, run with `TANDEM_BLESS=1`.

use super::repository::{compare, put, tandem, text};

const COMMANDS: [(&str, &[&str]); 7] = [
    ("summary", &["plan"]),
    ("all", &["plan", "--all"]),
    ("open", &["plan", "--open"]),
    ("json", &["plan", "--json", "NDK-READ-2", "WIRE-PSN"]),
    ("one", &["plan", "NDK-READ-2", "NDK-LAM"]),
    ("matrix", &["list", "--matrix"]),
    ("holes", &["list", "--matrix", "--holes"]),
];

#[test]
fn commands_print_what_they_printed() {
    let root = put("good", None);
    let mut wrong = Vec::new();
    for (name, arguments) in COMMANDS {
        let output = tandem(&root, arguments);
        assert!(output.status.success(), "{name}: {}", text(&output));
        wrong.extend(compare(&format!("golden/{name}.txt"), &text(&output)).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
