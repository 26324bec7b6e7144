//! Serves the part of GitHub's API that `pr` uses: comments and files of a branch. It answers as GitHub
//! does, fails on request, and logs requests.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

pub(super) const TOKEN: &str = "ghs_TheSecretOfThisTest";
pub(super) const VIEWER: &str = "github-actions[bot]";

#[derive(Debug, Clone)]
pub(super) struct Comment {
    pub(super) id: u64,
    pub(super) author: String,
    pub(super) body: String,
}

/// An answer that replaces the real one, once. With status 200, the real answer gets further
/// headers.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    /// Start of the request, such as `POST /repos/o/r/git/blobs`.
    pub(super) to: &'static str,
    pub(super) status: u16,
    pub(super) headers: String,
    pub(super) message: &'static str,
    /// True if the server does the request before it fails.
    pub(super) is_done: bool,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) comments: Vec<Comment>,
    /// Check runs that were created.
    pub(super) checks: Vec<Value>,
    /// Files of the branch for pictures, if there is one: paths and contents.
    branch: Option<BTreeMap<String, String>>,
    /// The tree that was created last, which a commit and a reference make the branch.
    tree: BTreeMap<String, String>,
    pub(super) faults: Vec<Fault>,
    /// True if the token can only read.
    pub(super) reads_only: bool,
    pub(super) is_private: bool,
    /// Requests in order, such as `POST /path`.
    pub(super) asked: Vec<String>,
    /// Errors of requests, such as a token in the wrong place.
    pub(super) complaints: Vec<String>,
    /// True if the next update of the branch fails, because another client updated it first.
    pub(super) overtakes: bool,
}

pub(super) struct Server {
    pub(super) api: String,
    pub(super) state: Arc<Mutex<State>>,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let kept = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&kept);
                thread::spawn(move || serve(stream.unwrap(), &state));
            }
        });
        Self { api, state }
    }

    pub(super) fn comments(&self) -> Vec<Comment> {
        self.state.lock().unwrap().comments.clone()
    }

    pub(super) fn add(&self, id: u64, author: &str, body: &str) {
        self.state.lock().unwrap().comments.push(Comment {
            id,
            author: author.to_owned(),
            body: body.to_owned(),
        });
    }

    pub(super) fn fail(&self, to: &'static str, status: u16, message: &'static str) {
        let headers = String::new();
        self.state.lock().unwrap().faults.push(Fault {
            to,
            status,
            headers,
            message,
            is_done: false,
        });
    }

    /// Counts the requests with this start.
    pub(super) fn count(&self, begins: &str) -> usize {
        let state = self.state.lock().unwrap();
        state
            .asked
            .iter()
            .filter(|asked| asked.starts_with(begins))
            .count()
    }

    /// Returns the paths on the branch for pictures.
    pub(super) fn files(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state
            .branch
            .iter()
            .flatten()
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// Checks that no request had an error, such as a token in the wrong place.
    pub(super) fn check(&self) {
        let state = self.state.lock().unwrap();
        assert!(state.complaints.is_empty(), "{:?}", state.complaints);
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let header = |name: &str| {
        let mut lines = head.lines().skip(1);
        lines.find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };

    let length = header("content-length").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let asked = format!("{method} {path}");
    let mut state = state.lock().unwrap();
    complain(
        &mut state,
        header("authorization").as_deref(),
        &body,
        &asked,
    );
    let (status, headers, text) = faulty(&mut state, method, path, &body)
        .unwrap_or_else(|| answer(&mut state, method, path, &body));
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
}

fn complain(state: &mut State, authorization: Option<&str>, body: &str, asked: &str) {
    state.asked.push(asked.to_owned());
    let token = TOKEN;
    if authorization != Some(&format!("Bearer {token}")) {
        state
            .complaints
            .push(format!("{asked}: no token in the header"));
    }
    if body.contains(token) || asked.contains(token) {
        state
            .complaints
            .push(format!("{asked}: the token is in it"));
    }

    // A list of processes at this moment must not show the token. Only Linux has /proc.
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(token) {
            state
                .complaints
                .push(format!("{asked}: {line} shows the token"));
        }
    }
}

type Answer = (u16, String, String);

fn faulty(state: &mut State, method: &str, path: &str, body: &str) -> Option<Answer> {
    let asked = format!("{method} {path}");
    let at = state
        .faults
        .iter()
        .position(|fault| asked.starts_with(fault.to))?;
    let fault = state.faults.remove(at);
    if fault.status == 200 {
        let (status, _, text) = answer(state, method, path, body);
        return Some((status, fault.headers, text));
    }
    if fault.is_done {
        answer(state, method, path, body);
    }
    let text = json!({ "message": fault.message }).to_string();
    Some((fault.status, fault.headers, text))
}

fn refused(status: u16, message: &str) -> Answer {
    (
        status,
        String::new(),
        json!({ "message": message }).to_string(),
    )
}

fn ok(status: u16, value: &Value) -> Answer {
    (status, String::new(), value.to_string())
}

fn comment_json(comment: &Comment) -> Value {
    let kind = if comment.author.ends_with("[bot]") {
        "Bot"
    } else {
        "User"
    };

    json!({
        "id": comment.id, "body": comment.body,
        "html_url": format!("https://github.com/o/r/pull/7#issuecomment-{}", comment.id),
        "user": { "login": comment.author, "type": kind },
    })
}

fn answer(state: &mut State, method: &str, path: &str, body: &str) -> Answer {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    let path = path.strip_prefix("/repos/o/r").unwrap_or(path);
    let is_write = method != "GET" && path != "/graphql";
    if state.reads_only && is_write {
        return refused(403, "Resource not accessible by integration");
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    match (method, path) {
        ("POST", "/graphql") => ok(200, &json!({ "data": { "viewer": { "login": VIEWER } } })),
        ("GET", "/pulls/7") => ok(200, &pull(state.is_private, "o/r")),
        ("GET", "/pulls") if query.contains("head=fan%3Afaster") => {
            ok(200, &json!([pull(state.is_private, "fan/r")]))
        }
        ("GET", "/pulls") => ok(200, &json!([])),
        ("GET", "/issues/7/comments") => page(state, query),
        ("POST", "/issues/7/comments") => {
            let id = new_comment(state, json["body"].as_str().unwrap());
            ok(201, &comment_json(comment(state, id).unwrap()))
        }
        (_, path) if path.starts_with("/issues/comments/") => {
            let id = path.rsplit('/').next().unwrap().parse().unwrap();
            one_comment(state, method, id, &json)
        }
        ("GET", path) if path.starts_with("/contents/") => {
            assert_eq!(query, "ref=metalens-assets");
            let branch = state.branch.as_ref();
            match branch.and_then(|files| files.get(&path["/contents/".len()..])) {
                Some(content) => ok(200, &json!({ "content": content })),
                None => refused(404, "Not Found"),
            }
        }
        ("PUT", path) if path.starts_with("/contents/") => {
            put(state, &path["/contents/".len()..], &json)
        }
        ("POST", "/check-runs") => {
            state.checks.push(json);
            ok(201, &json!({ "id": state.checks.len() }))
        }
        ("POST", "/git/trees") => {
            let entries = json["tree"].as_array().unwrap().iter();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let files = entries.map(|entry| (text(&entry["path"]), text(&entry["content"])));
            state.tree = files.collect();
            ok(201, &json!({ "sha": "7ee" }))
        }
        ("POST", "/git/commits") => {
            assert_eq!(json["tree"], "7ee");
            ok(201, &json!({ "sha": "c0" }))
        }
        ("POST", "/git/refs") => {
            assert_eq!(json["ref"], "refs/heads/metalens-assets");
            if state.branch.is_some() || overtaken(state) {
                return refused(422, "Reference already exists");
            }
            state.branch = Some(state.tree.clone());
            ok(201, &json!({ "object": { "sha": "c0" } }))
        }
        _ => refused(404, "Not Found"),
    }
}

fn pull(is_private: bool, from: &str) -> Value {
    json!({
        "number": 7, "html_url": "https://github.com/o/r/pull/7",
        "head": { "sha": "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00", "repo": { "full_name": from } },
        "base": { "sha": "0000", "repo": { "full_name": "o/r", "private": is_private } },
    })
}

fn page(state: &State, query: &str) -> Answer {
    let number = query.split('&').find_map(|part| part.strip_prefix("page="));
    let number: usize = number.map_or(1, |number| number.parse().unwrap());
    let all = state.comments.iter().map(comment_json);
    let shown: Vec<Value> = all.skip((number - 1) * 100).take(100).collect();
    ok(200, &json!(shown))
}

fn new_comment(state: &mut State, body: &str) -> u64 {
    let id = state
        .comments
        .iter()
        .map(|comment| comment.id)
        .max()
        .unwrap_or(0)
        + 1;
    state.comments.push(Comment {
        id,
        author: VIEWER.to_owned(),
        body: body.to_owned(),
    });
    id
}

fn comment(state: &mut State, id: u64) -> Option<&mut Comment> {
    state.comments.iter_mut().find(|comment| comment.id == id)
}

fn one_comment(state: &mut State, method: &str, id: u64, json: &Value) -> Answer {
    if method == "DELETE" {
        state.comments.retain(|comment| comment.id != id);
        return (204, String::new(), String::new());
    }
    let Some(found) = comment(state, id) else {
        return refused(404, "Not Found");
    };

    if method == "PATCH" {
        found.body = json["body"].as_str().unwrap().to_owned();
    }
    ok(200, &comment_json(found))
}

fn put(state: &mut State, path: &str, json: &Value) -> Answer {
    assert_eq!(json["branch"], "metalens-assets");
    if state.branch.is_none() {
        return refused(404, "Branch metalens-assets not found");
    }
    if overtaken(state) {
        return refused(409, "metalens/x.png does not match");
    }
    let files = state.branch.get_or_insert_default();
    if files.contains_key(path) {
        return refused(422, "Invalid request.\n\n\"sha\" wasn't supplied.");
    }
    files.insert(
        path.to_owned(),
        json["content"].as_str().unwrap().to_owned(),
    );
    ok(201, &json!({ "content": { "path": path } }))
}

/// Puts a file of somebody else on the branch, once, if the test asks for it.
fn overtaken(state: &mut State) -> bool {
    let overtakes = std::mem::take(&mut state.overtakes);
    if overtakes {
        let tree = state.tree.clone();
        let files = state.branch.get_or_insert(tree);
        files.insert("theirs.png".to_owned(), "theirs".to_owned());
    }
    overtakes
}
