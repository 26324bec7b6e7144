//! A client that speaks the protocol with nothing but a process and JSON.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
    /// Messages of progress.
    pub(crate) progress: Vec<String>,
}

impl Client {
    /// Starts a server with these options, in a folder, and begins the protocol.
    pub(crate) fn start(folder: &Path, options: &[&str]) -> Self {
        super::metalens();
        let mut server = Command::new(env!("CARGO_BIN_EXE_metalens-mcp"))
            .args(options)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut client = Self {
            server,
            input,
            output,
            last_id: 0,
            progress: Vec::new(),
        };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        });
        let server = client.ask("initialize", hello).unwrap();
        assert_eq!(server["serverInfo"]["name"], "metalens");
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.say_bytes(message.to_string().as_bytes());
    }

    /// Sends a line, which may be no message.
    pub(crate) fn say_bytes(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Closes the input of the server.
    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// Sends a request, and returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(&message);
        id
    }

    /// Sends a request, and returns its result or error.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        loop {
            let message = self.receive().unwrap();
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    /// Returns the next message, `None` at the end. Keeps what is progress.
    pub(crate) fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] == "notifications/progress" {
            let said = message["params"]["message"].as_str().unwrap();
            self.progress.push(said.to_owned());
        }
        Some(message)
    }

    /// Calls a tool; returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params)
            .unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// Calls a tool that must succeed; returns its text and structured content.
    pub(crate) fn answer(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let result = self.call(tool, arguments);
        let text = text(&result);
        assert_eq!(result["isError"], false, "{tool}: {text}");
        (text, result["structuredContent"].clone())
    }

    /// Calls a tool that must fail; returns what it says.
    pub(crate) fn problem(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        let text = text(&result);
        assert_eq!(result["isError"], true, "{tool}: {text}");
        assert!(text.starts_with("error: "), "{tool}: {text}");
        text
    }

    /// Closes the input, and waits for the end of the server.
    pub(crate) fn close(mut self) {
        self.input = None;
        while self.receive().is_some() {}
        assert!(self.server.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.server.wait();
    }
}

/// Returns the first text of a result.
fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
