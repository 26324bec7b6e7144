//! Serves the part of GitHub's API that `pr` uses: comments and a little git. It answers as GitHub
//! does, fails on request, and logs requests.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

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
    pub(super) refs: BTreeMap<String, String>,
    /// Commits by hash: tree and parents.
    pub(super) commits: HashMap<String, (String, Vec<String>)>,
    trees: HashMap<String, BTreeMap<String, String>>,
    blobs: HashMap<String, String>,
    pub(super) faults: Vec<Fault>,
    /// True if the token can only read.
    pub(super) reads_only: bool,
    pub(super) is_private: bool,
    /// Check runs, as they were requested.
    pub(super) checks: Vec<Value>,
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
        Self::with_barrier(None)
    }

    /// Starts a server on which the first two listings of comments wait for each other.
    pub(super) fn with_barrier(both: Option<Arc<Barrier>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let (base, kept) = (api.clone(), Arc::clone(&state));
        let waits = Arc::new(Mutex::new(2));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (state, base, both) = (Arc::clone(&kept), base.clone(), both.clone());
                let waits = Arc::clone(&waits);
                thread::spawn(move || {
                    serve(stream.unwrap(), &state, &base, both.as_deref(), &waits);
                });
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

    /// Checks that no request had an error, such as a token in the wrong place.
    pub(super) fn check(&self) {
        let state = self.state.lock().unwrap();
        assert!(state.complaints.is_empty(), "{:?}", state.complaints);
    }
}

fn serve(
    mut stream: TcpStream,
    state: &Mutex<State>,
    base: &str,
    both: Option<&Barrier>,
    waits: &Mutex<u32>,
) {
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
    if method == "GET" && path.contains("/comments?") {
        let is_early = {
            let mut left = waits.lock().unwrap();
            let is_early = *left > 0;
            *left -= u32::from(is_early);
            is_early
        };
        if let Some(both) = both.filter(|_| is_early) {
            // Both clients get a list of comments without the other's.
            both.wait();
        }
    }
    let mut state = state.lock().unwrap();
    complain(
        &mut state,
        header("authorization").as_deref(),
        &body,
        &asked,
    );
    let (status, headers, text) = faulty(&mut state, method, path, &body, base)
        .unwrap_or_else(|| answer(&mut state, method, path, &body, base));
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
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let knows = String::from_utf8_lossy(&environment).contains(token);
        if line.contains(token) || (line.starts_with("curl ") && knows) {
            state
                .complaints
                .push(format!("{asked}: {line} shows the token"));
        }
    }
}

type Answer = (u16, String, String);

fn faulty(state: &mut State, method: &str, path: &str, body: &str, base: &str) -> Option<Answer> {
    let asked = format!("{method} {path}");
    let at = state
        .faults
        .iter()
        .position(|fault| asked.starts_with(fault.to))?;
    let fault = state.faults.remove(at);
    if fault.status == 200 {
        let (status, _, text) = answer(state, method, path, body, base);
        return Some((status, fault.headers, text));
    }
    if fault.is_done {
        answer(state, method, path, body, base);
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

fn hash(text: &str) -> String {
    let digits = Sha256::digest(text.as_bytes());
    digits
        .iter()
        .take(20)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn answer(state: &mut State, method: &str, path: &str, body: &str, base: &str) -> Answer {
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
        ("GET", "/issues/7/comments") => page(state, query, base),
        ("POST", "/issues/7/comments") => {
            let id = new_comment(state, json["body"].as_str().unwrap());
            ok(201, &comment_json(comment(state, id).unwrap()))
        }
        ("POST", "/check-runs") => {
            state.checks.push(json);
            ok(201, &json!({ "html_url": "https://github.com/o/r/runs/1" }))
        }
        (_, path) if path.starts_with("/issues/comments/") => {
            let id = path.rsplit('/').next().unwrap().parse().unwrap();
            one_comment(state, method, id, &json)
        }
        (_, path) if path.starts_with("/git/") => git(state, method, &path["/git".len()..], &json),
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

fn page(state: &State, query: &str, base: &str) -> Answer {
    let number = query.split('&').find_map(|part| part.strip_prefix("page="));
    let number: usize = number.map_or(1, |number| number.parse().unwrap());
    let all: Vec<Value> = state.comments.iter().map(comment_json).collect();
    let start = (number - 1) * 100;
    let shown: Vec<&Value> = all.iter().skip(start).take(100).collect();
    let link = if start + 100 < all.len() {
        format!(
            "Link: <{base}/repos/o/r/issues/7/comments?per_page=100&page={}>; rel=\"next\"\r\n",
            number + 1
        )
    } else {
        String::new()
    };

    (200, link, json!(shown).to_string())
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

fn git(state: &mut State, method: &str, path: &str, json: &Value) -> Answer {
    let text = |name: &str| json[name].as_str().unwrap_or("").to_owned();
    let made = |sha: &str| ok(201, &json!({ "sha": sha }));
    const REF: &str = "refs/heads/metalens-assets";
    match (method, path) {
        ("POST", "/blobs") => {
            let sha = hash(&text("content"));
            state.blobs.insert(sha.clone(), text("content"));
            made(&sha)
        }
        ("POST", "/trees") => {
            let mut tree = state
                .trees
                .get(&text("base_tree"))
                .cloned()
                .unwrap_or_default();
            for entry in json["tree"].as_array().unwrap() {
                let content = entry["sha"]
                    .as_str()
                    .map_or_else(|| hash(entry["content"].as_str().unwrap()), str::to_owned);
                tree.insert(entry["path"].as_str().unwrap().to_owned(), content);
            }
            let sha = hash(&format!("{tree:?}"));
            state.trees.insert(sha.clone(), tree);
            made(&sha)
        }
        ("POST", "/commits") => {
            let parents: Vec<String> = serde_json::from_value(json["parents"].clone()).unwrap();
            let sha = hash(&format!("{} {parents:?}", text("tree")));
            state.commits.insert(sha.clone(), (text("tree"), parents));
            made(&sha)
        }
        ("GET", "/ref/heads/metalens-assets") => match state.refs.get(REF) {
            Some(sha) => ok(200, &json!({ "object": { "sha": sha } })),
            None => refused(404, "Not Found"),
        },
        ("GET", path) if path.starts_with("/commits/") => {
            let sha = path.rsplit('/').next().unwrap();
            match state.commits.get(sha) {
                Some((tree, _)) => ok(200, &json!({ "tree": { "sha": tree } })),
                None => refused(404, "Not Found"),
            }
        }
        ("POST", "/refs") | ("PATCH", "/refs/heads/metalens-assets") => {
            assert_ne!(json["force"], true, "nobody's work is lost");
            if std::mem::take(&mut state.overtakes) {
                overtake(state);
            }
            move_ref(state, method, &text("sha"))
        }
        _ => refused(404, "Not Found"),
    }
}

/// Somebody else puts a file there.
fn overtake(state: &mut State) {
    let tip = state.refs.get("refs/heads/metalens-assets").cloned();
    let tree = tip.as_ref().and_then(|tip| state.commits.get(tip));
    let mut files = tree
        .and_then(|(tree, _)| state.trees.get(tree))
        .cloned()
        .unwrap_or_default();
    files.insert("theirs.png".to_owned(), "1".repeat(40));
    let tree = hash(&format!("{files:?}"));
    state.trees.insert(tree.clone(), files);
    let commit = hash(&format!("theirs {tree}"));
    state
        .commits
        .insert(commit.clone(), (tree, tip.into_iter().collect()));
    state
        .refs
        .insert("refs/heads/metalens-assets".to_owned(), commit);
}

fn move_ref(state: &mut State, method: &str, sha: &str) -> Answer {
    const REF: &str = "refs/heads/metalens-assets";
    let tip = state.refs.get(REF).cloned();
    let follows = |tip: &String| state.commits[sha].1.contains(tip);
    match (method, tip) {
        ("POST", Some(_)) => refused(422, "Reference already exists"),
        ("PATCH", Some(tip)) if !follows(&tip) => refused(422, "Update is not a fast forward"),
        _ => {
            state.refs.insert(REF.to_owned(), sha.to_owned());
            ok(200, &json!({ "object": { "sha": sha } }))
        }
    }
}

impl State {
    /// The paths on the branch.
    pub(super) fn files(&self) -> Vec<String> {
        let tip = self.refs.get("refs/heads/metalens-assets");
        let tree = tip
            .and_then(|tip| self.commits.get(tip))
            .map(|(tree, _)| tree);
        let files = tree.and_then(|tree| self.trees.get(tree));
        files
            .into_iter()
            .flatten()
            .map(|(path, _)| path.clone())
            .collect()
    }
}
