//! A server that accepts, and says nothing.

use std::io::Read;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use metalens_github::{Api, Client, Error, Method, Patience, Request, Token};

static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// It is told what is waited for, and it is not waited for long.
#[test]
fn told_and_given_up() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: there is no curl");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let api = Api::parse(&address).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            CONNECTIONS.fetch_add(1, Ordering::SeqCst);
            // It reads until the other side has had enough.
            let mut stream = stream.unwrap();
            thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        }
    });

    let token = Token::new("ghp_secret").unwrap();
    let client = Client::new(api.clone(), token)
        .telling(|text| TOLD.lock().unwrap().push(text.to_owned()))
        .with_patience(Patience {
            unsaid: Duration::ZERO,
            silence: Duration::from_secs(1),
        });
    let error = client.send(&Request {
        method: Method::Get,
        url: format!("{address}/repos/o/r/pulls/7"),
        body: None,
        is_repeatable: true,
    });
    assert!(
        matches!(error, Err(Error::NoAnswer { code: 28, .. })),
        "{error:?}"
    );
    assert_eq!(CONNECTIONS.load(Ordering::SeqCst), 2);
    let asked = "GET /repos/o/r/pulls/7";
    assert_eq!(
        *TOLD.lock().unwrap(),
        [
            format!("waiting for an answer to {asked}"),
            format!("no answer to {asked}: asking again"),
            format!("waiting for an answer to {asked}"),
        ]
    );
}
