//! The page as a person sees and uses it, in headless Chromium: at the width of a desk and of a phone, light and dark.

use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;

use crate::chromium::{self, Page};
use crate::fixture;

const CONTRAST: &str = include_str!("contrast.js");

/// Widths and heights of windows.
const WINDOWS: [(u32, u32); 2] = [(1280, 800), (390, 844)];

/// The browser; without one nothing is tested, but on a machine of continuous integration there has to be one.
fn chromium() -> Option<String> {
    let found = chromium::find();
    if found.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no Chromium: install it, or set TANDEM_CHROMIUM to it"
        );
        // What a test prints is not seen if it passes; this is.
        let _ = writeln!(
            std::io::stderr(),
            "NOT TESTED: the signoff's page in a browser, as there is no Chromium (TANDEM_CHROMIUM names one)"
        );
    }
    found
}

/// A page that has everything, in a file.
fn written(name: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, fixture::full_page()).unwrap();
    file
}

/// Nothing was complained of, and nothing was asked of a network.
fn clean(page: &Page, address: &str) {
    let thrown: Vec<_> = page.events("Runtime.exceptionThrown").collect();
    assert!(thrown.is_empty(), "{thrown:?}");
    let said: Vec<_> = page.events("Runtime.consoleAPICalled").collect();
    assert!(said.is_empty(), "{said:?}");
    let logged: Vec<_> = page.events("Log.entryAdded").collect();
    assert!(logged.is_empty(), "{logged:?}");
    let mut asked = 0;
    for request in page.events("Network.requestWillBeSent") {
        let url = request["request"]["url"].as_str().unwrap();
        assert!(url == address || url.starts_with("data:"), "{url}");
        asked += 1;
    }
    assert!(asked > 0, "requests are not seen");
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// Clicks in the middle of what a selector finds, which is in the window.
fn click(page: &mut Page, selector: &str) {
    let selector = Value::from(selector);
    let at = page.eval(&format!(
        "(() => {{ const e = document.querySelector({selector}); e.scrollIntoView({{ block: 'center', inline: 'center' }});
            const r = e.getClientRects()[0]; const x = r.x + r.width / 2, y = r.y + r.height / 2;
            return [x, y, e.contains(document.elementFromPoint(x, y))]; }})()"
    ));
    assert_eq!(at[2], true, "{selector} is covered by something");
    page.click(number(&at[0]), number(&at[1]));
}

#[test]
fn each_link_leads_to_what_it_names() {
    let Some(chromium) = chromium() else { return };
    let mut page = Page::new(&chromium);
    let address = page.open(&written("signoff-links.html"));
    for (width, height) in WINDOWS {
        page.resize(width, height);
        let sections =
            page.eval("[...document.querySelectorAll('nav a')].map(a => a.getAttribute('href'))");
        let sections = sections.as_array().unwrap().clone();
        assert_eq!(sections.len(), 7);
        for section in &sections {
            let section = section.as_str().unwrap();
            click(&mut page, &format!("nav a[href='{section}']"));
            let seen = page.eval(&format!(
                "(() => {{ const top = document.querySelector('{section} h2').getBoundingClientRect().top;
                    const bar = document.querySelector('nav').getBoundingClientRect().bottom;
                    const end = Math.abs(innerHeight + scrollY - document.documentElement.scrollHeight) < 2;
                    return [location.hash, top >= bar - 1 && top < innerHeight, top < bar + 120 || end]; }})()"
            ));
            assert_eq!(
                seen,
                serde_json::json!([section, true, true]),
                "{section} at {width}"
            );
        }
    }
    let lost = page.eval(
        "[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))
            .filter(href => !href.startsWith('#') || !document.getElementById(decodeURIComponent(href.slice(1))))",
    );
    assert_eq!(lost, serde_json::json!([]));
    // A link into something folded opens it.
    let file = page.eval("document.querySelector('#files a').getAttribute('href')");
    let file = file.as_str().unwrap().to_owned();
    let is_open = format!("document.getElementById({:?}).open", &file[1..]);
    assert_eq!(page.eval(&is_open), false);
    click(&mut page, "#files a");
    // The page hears of it a little later.
    let opened = format!(
        "(async () => {{ for (let i = 0; i < 200 && !{is_open}; i++) await new Promise(r => setTimeout(r, 10)); return {is_open}; }})()"
    );
    assert_eq!(page.eval(&opened), true, "{file}");
    let top = page.eval(&format!(
        "document.getElementById({:?}).getBoundingClientRect().top",
        &file[1..]
    ));
    assert!((0.0..844.0).contains(&number(&top)), "{file} is at {top}");
    clean(&page, &address);
}

#[test]
fn a_filter_shows_the_rows_that_have_all_its_words_and_counts_them() {
    let Some(chromium) = chromium() else { return };
    let mut page = Page::new(&chromium);
    let address = page.open(&written("signoff-filter.html"));
    page.resize(1280, 800);
    let tables =
        page.eval("[...document.querySelectorAll('[data-filter]')].map(f => f.dataset.filter)");
    let tables = tables.as_array().unwrap().clone();
    assert!(tables.len() >= 6, "{tables:?}");
    for table in &tables {
        let table = table.as_str().unwrap();
        // A person's view of it: rows that take up room, and what they say.
        let rows = format!(
            "[...document.querySelectorAll('#{table} > tbody > tr')].map(r => [r.getClientRects().length > 0, r.innerText])"
        );
        let told = format!("document.querySelector('[data-filter={table}] output').value");
        let all = page.eval(&rows);
        let all: Vec<String> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row[1].as_str().unwrap().to_lowercase())
            .collect();
        let total = all.len();
        assert!(total > 0, "{table} is empty");
        assert_eq!(page.eval(&told), format!("{total} of {total}"));
        // Two words of the last row, in another order and other letters.
        let words: Vec<&str> = all[total - 1]
            .split_whitespace()
            .filter(|word| word.len() > 2)
            .take(2)
            .collect();
        let typed = format!("{} {}", words[words.len() - 1].to_uppercase(), words[0]);
        let fits = |row: &String| words.iter().all(|word| row.contains(word));
        let wanted = all.iter().filter(|row| fits(row)).count();
        for (text, wanted) in [
            (typed.as_str(), wanted),
            ("qqqq-nothing-has-this", 0),
            ("", total),
        ] {
            click(&mut page, &format!("[data-filter={table}] input"));
            page.eval(&format!(
                "document.querySelector('[data-filter={table}] input').select()"
            ));
            match text {
                "" => {
                    for kind in ["keyDown", "keyUp"] {
                        let key = serde_json::json!({ "type": kind, "key": "Backspace", "windowsVirtualKeyCode": 8 });
                        page.call("Input.dispatchKeyEvent", key);
                    }
                }
                text => page.type_text(text),
            }
            assert_eq!(
                page.eval(&told),
                format!("{wanted} of {total}"),
                "{table}: {text:?}"
            );
            let now = page.eval(&rows);
            let shown = now.as_array().unwrap().iter().filter(|row| row[0] == true);
            let shown: Vec<String> = shown
                .map(|row| row[1].as_str().unwrap().to_lowercase())
                .collect();
            assert_eq!(shown.len(), wanted, "{table}: {text:?}");
            if text == typed {
                assert!(shown.iter().all(fits), "{table}: {shown:?}");
            }
        }
    }
    clean(&page, &address);
}

#[test]
fn nothing_is_wider_than_the_window_and_all_can_be_read() {
    let Some(chromium) = chromium() else { return };
    let mut page = Page::new(&chromium);
    let address = page.open(&written("signoff-looks.html"));
    page.eval("document.querySelectorAll('details').forEach(d => { d.open = true })");
    let mut grounds = Vec::new();
    for (width, height) in WINDOWS {
        page.resize(width, height);
        let wide = page.eval("[document.documentElement.scrollWidth, innerWidth]");
        assert!(number(&wide[0]) <= number(&wide[1]), "{wide} at {width}");
        assert_eq!(number(&wide[1]) as u32, width);
        for scheme in ["light", "dark"] {
            page.prefer(scheme);
            let found = page.eval(CONTRAST);
            assert!(number(&found["texts"]) > 5000.0, "{}", found["texts"]);
            assert!(
                number(&found["drawn"]) > 20.0,
                "no diagram: {}",
                found["drawn"]
            );
            assert_eq!(found["faint"], serde_json::json!([]), "{scheme} at {width}");
            grounds.push(found["ground"].clone());
        }
    }
    assert_eq!(grounds[0], grounds[2]);
    assert_ne!(grounds[0], grounds[1], "dark is not dark");
    clean(&page, &address);
}
