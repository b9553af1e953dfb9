//! A headless Chromium, driven over the DevTools protocol: JSON messages on two pipes, each with a zero byte behind it.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names under which it is installed.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
/// Names another one.
const VARIABLE: &str = "TANDEM_CHROMIUM";
/// It takes the third file descriptor for commands and the fourth for answers.
const SHELL: &str = r#"exec "$0" "$@" 3<&0 4>&1 1>&2"#;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The one that is installed.
pub fn find() -> Option<String> {
    let named = std::env::var(VARIABLE).ok();
    let names = named.into_iter().chain(NAMES.map(str::to_owned));
    let mut found = names.filter(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    });
    found.next()
}

/// A page in a browser of its own.
pub struct Page {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    number: u64,
    events: Vec<Value>,
    /// Its profile.
    _folder: TempDir,
}

impl Page {
    /// An empty page.
    pub fn new(chromium: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", SHELL, chromium])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while answers.read_until(0, &mut bytes).is_ok_and(|n| n > 1) {
                bytes.pop();
                let sent = sender.send(serde_json::from_slice(&bytes).unwrap());
                if sent.is_err() {
                    break;
                }
                bytes.clear();
            }
        });
        let mut page = Self {
            child,
            commands,
            messages,
            session: None,
            number: 0,
            events: Vec::new(),
            _folder: folder,
        };
        let target = page.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let session = page.call("Target.attachToTarget", target);
        page.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page
    }

    /// Gives a command, and waits for what comes of it.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        write!(self.commands, "{command}\0").unwrap();
        self.commands.flush().unwrap();
        loop {
            let message = self.message(&method);
            if message["id"] == self.number {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn message(&self, what: &dyn Display) -> Value {
        let message = self.messages.recv_timeout(PATIENCE);
        message.unwrap_or_else(|error| panic!("no answer from Chromium to {what}: {error}"))
    }

    /// Opens a file, and waits until it is there.
    pub fn open(&mut self, file: &Path) -> String {
        let address = format!("file://{}", file.display());
        self.call("Page.navigate", json!({ "url": address }));
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let event = self.message(&address);
            self.events.push(event);
        }
        address
    }

    /// Events of that name so far.
    pub fn events<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Value> {
        let events = self
            .events
            .iter()
            .filter(move |event| event["method"] == method);
        events.map(|event| &event["params"])
    }

    /// What an expression is in the page.
    pub fn eval(&mut self, script: &str) -> Value {
        let parameters =
            json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{script}: {result}");
        result["result"]["value"].clone()
    }

    /// The window's size.
    pub fn resize(&mut self, width: u32, height: u32) {
        let mobile = width < 600;
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile }),
        );
    }

    /// `light` or `dark`.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }

    /// Clicks at a point of the window, as a mouse does.
    pub fn click(&mut self, x: f64, y: f64) {
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 }),
            );
        }
    }

    /// Types into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
